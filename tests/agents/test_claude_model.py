"""What passes between the real Claude Code and its model besides words: images, second attempts, compaction."""

from itertools import chain, repeat
from pathlib import Path

from midstream.server.providers.adapter import ImageBlock, TurnInput
from midstream.server.providers.drafts import NoticeDraft
from midstream.server.providers.events import HistoryCompacted
from support.claude_stories import driver_of
from support.models.server import ModelServer
from support.turns import ended, last_of_each, of, opened, options_in, said, turn, until

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def test_an_image_reaches_the_model_before_the_users_words(
    claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    options = options_in(workspace)
    image = ImageBlock(mime_type="image/png", base64=PIXEL)
    message = TurnInput(context=(), attachments=(image,), text="say: seen")
    async with opened(driver_of(claude_env), workspace) as session:
        thread = await session.start_thread(options)
        events = await until(session.run_turn(thread.ref, message, options), lambda event: False)
    assert (said(events), ended(events).status) == ("seen", "completed")
    content = model.requests[-1]["messages"][-1]["content"]
    (at,) = [place for place, block in enumerate(content) if block["type"] == "image"]
    assert content[at]["source"]["data"] == PIXEL
    assert content[at + 1]["text"].strip() == "say: seen"  # Claude Code adds where it keeps the image


async def test_a_model_that_is_overloaded_is_asked_again_and_the_user_is_told(
    claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    options = options_in(workspace)
    overloads = chain([True], repeat(False))
    model.overloaded = lambda body: next(overloads)
    async with opened(driver_of({**claude_env, "CLAUDE_CODE_MAX_RETRIES": "2"}), workspace) as session:
        thread = await session.start_thread(options)
        events = await turn(session, thread.ref, "say: after all", options)
    assert (said(events), ended(events).status) == ("after all", "completed")
    notices = [e.draft.message for e in last_of_each(events).values() if isinstance(e.draft, NoticeDraft)]
    assert notices == ["The model answered with status 529; Claude Code tries again (attempt 1)."]


async def test_a_history_that_claude_compacts_is_told(
    claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    options = options_in(workspace)
    async with opened(driver_of(claude_env), workspace) as session:
        thread = await session.start_thread(options)
        await turn(session, thread.ref, "say: " + "long " * 2000, options)
        events = await turn(session, thread.ref, "fail: context_overflow: too much", options)
    assert of(HistoryCompacted, events)
