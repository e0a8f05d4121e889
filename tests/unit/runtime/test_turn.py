"""What a provider says goes into the inbox by its size, whatever kind of event it is."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from midstream.server.providers.drafts import CommandDraft, Draft, ToolDraft
from midstream.server.providers.events import ItemChanged, OutputAppended, ProviderEvent
from midstream.server.providers.inbox import CAPACITY, Inbox
from midstream.server.runtime.turn import fill

LARGE = "x" * (CAPACITY // 10)


def changed(draft: Draft) -> ItemChanged:
    return ItemChanged(ref="r", parent_ref=None, draft=draft, status="completed")


@pytest.mark.parametrize(
    "event",
    [
        OutputAppended(ref="r", field="text", text=LARGE),
        changed(ToolDraft(name="n", input=None, output=LARGE)),
        changed(ToolDraft(name="n", input={"deep": [LARGE]})),
        changed(CommandDraft(command="c", cwd="/", output=LARGE)),
    ],
)
async def test_an_agent_is_held_up_by_how_much_it_says_not_by_how_often(event: ProviderEvent) -> None:
    said = 0

    async def saying() -> AsyncGenerator[ProviderEvent, None]:
        nonlocal said
        while said < 100:
            said += 1
            yield event

    inbox: Inbox[ProviderEvent] = Inbox()
    filling = asyncio.create_task(fill(saying(), inbox))
    taken = 0
    while batch := await inbox.take():
        assert len(batch) <= 11
        taken += len(batch)
        assert said - taken <= 11
    await filling
    assert taken == 100
