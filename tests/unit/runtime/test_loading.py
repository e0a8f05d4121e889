"""A thread's state made anew from what is stored of it."""

from pathlib import Path

from midstream.server.runtime.loading import load_state
from midstream.server.store import Store, Write
from support.graph import Story


async def test_what_no_provider_took_is_known_after_a_restart_of_the_daemon(tmp_path: Path) -> None:
    story = Story()
    run = story.restart(story.go(story.start("This.")), "Otherwise.")
    story.restart(run, "Or so.")
    late = story.steer(run, "And this.")
    store = await Store.open(tmp_path / "midstream.db")
    try:
        thread = story.state.thread
        await store.commit(Write(thread_id=thread.id, first_sequence=1, events=tuple(story.events)))
        state = await load_state(store, thread.id)
        assert state is not None
        assert state.unsent == story.state.unsent == (story.said("Otherwise.").id, story.said("Or so.").id)
        assert state.live_items == story.state.live_items
        assert set(state.live_items) == {late.id}
    finally:
        await store.aclose()
