"""What is read of the conversations that Claude Code keeps, rewound ones too, and who may open one."""

import json
from pathlib import Path
from typing import Any

import pytest

from midstream.server.providers.adapter import ProviderError
from midstream.server.providers.claude.archive import Archive
from midstream.server.providers.claude.claim import Claim
from midstream.server.providers.claude.history import KeptTurn, newest, read, turns

REF = "0b7f9c2e-5a54-4d0e-9f5e-0f4c7b1d2a30"


def line(entry_id: str, parent: str | None, kind: str = "assistant", **more: Any) -> dict[str, Any]:
    """A line of a conversation."""
    return {"type": kind, "uuid": entry_id, "parentUuid": parent, "message": {}, **more}


def prompt(entry_id: str, parent: str | None, source: str = "sdk") -> dict[str, Any]:
    """A message that begins a turn of Claude's."""
    return line(entry_id, parent, "user", promptSource=source)


TWO_TURNS = (
    prompt("u1", None),
    line("x1", "u1", "attachment"),
    line("a1", "x1"),
    line("t1", "a1", "user"),
    line("child", "t1", isSidechain=True),
    line("a2", "t1"),
    prompt("n1", "a2", "system"),
    line("a3", "n1"),
    prompt("u2", "a3"),
    line("a4", "u2"),
)


def keep(folder: Path, *lines: dict[str, Any]) -> None:
    """Write a conversation as Claude Code keeps it."""
    file = folder / "projects" / "-work" / f"{REF}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))


def test_a_turn_goes_from_the_users_message_to_the_next_one_whatever_claude_was_told_between(tmp_path: Path) -> None:
    keep(tmp_path, *TWO_TURNS)
    entries = read(tmp_path, REF)
    assert newest(entries) == "a4"
    assert turns(entries, "a4") == (KeptTurn("u1", "a3"), KeptTurn("u2", "a4"))
    assert [turn.answered for turn in turns(entries, "u2")] == [True, False]
    assert read(tmp_path, "other") == ()


def test_what_a_conversation_went_on_without_is_no_part_of_it_and_what_was_compacted_is(tmp_path: Path) -> None:
    compacted = line("c1", None, "system", logicalParentUuid="a3")
    keep(tmp_path, *TWO_TURNS, compacted, line("s1", "c1", "user"), prompt("u3", "s1"), line("a5", "u3"))
    assert [turn.ref for turn in turns(read(tmp_path, REF), "a5")] == ["u1", "u3"]


async def test_a_rewound_conversation_has_its_earlier_turns_until_something_is_said_in_it(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.mkdir()
    keep(tmp_path, *TWO_TURNS)
    archive = Archive(tmp_path, ours)
    await archive.rewind(REF, "a3")
    assert (await archive.rewound_to(REF), await archive.turns(REF)) == ("a3", (KeptTurn("u1", "a3"),))
    anew = Archive(tmp_path, ours)  # as after the daemon's death
    assert await anew.rewound_to(REF) == "a3"
    keep(tmp_path, *TWO_TURNS, prompt("u3", "a3"))
    assert (await anew.rewound_to(REF), [turn.ref for turn in await anew.turns(REF)]) == (None, ["u1", "u3"])
    await archive.rewind(REF, "a3")
    archive.forget_rewind(REF)
    assert await archive.rewound_to(REF) is None


def test_a_conversation_that_is_open_cannot_be_opened_by_another_one_until_it_is_let_go(tmp_path: Path) -> None:
    claim = Claim.take(tmp_path, REF)
    with pytest.raises(ProviderError, match="open in another daemon"):
        Claim.take(tmp_path, REF)
    claim.release()
    Claim.take(tmp_path, REF).release()
    with pytest.raises(ProviderError, match="No conversation"):
        Claim.take(tmp_path, "../elsewhere")
