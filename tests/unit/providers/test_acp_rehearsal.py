"""The ACP driver against the rehearsal agent: a real agent across a real process boundary."""

import json
import sys
from pathlib import Path

import psutil
import pytest

from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.request import Answer
from midstream.server.providers.acp.driver import AcpDriver
from midstream.server.providers.acp.session import AcpSession
from midstream.server.providers.adapter import ContextBlock, ProviderError, Reply, ResumeFailed, TurnInput
from midstream.server.providers.drafts import CommandDraft, FileChangeDraft, SubagentDraft, TodoDraft
from midstream.server.providers.events import (
    HistoryCompacted,
    ItemChanged,
    OutputAppended,
    RequestAsked,
    TurnAccepted,
    TurnEnded,
    UsageReported,
)
from support.acp_turns import bad_agent
from support.turns import asked, ended, last_of_each, of, opened, options_in, said, turn, until, words


def rehearsal(*flags: str, model: str | None = None) -> AcpDriver:
    command = (sys.executable, "-m", "midstream.server.rehearsal", *flags)
    return AcpDriver("rehearsal", ProviderConfig(driver="acp", command=command, label="Rehearsal", model=model))


async def recalled(session: AcpSession, ref: str, workspace: Path) -> list[str]:
    events = await turn(session, ref, "recall", options_in(workspace))
    return [entry["text"] for entry in json.loads(said(events)) if entry["role"] == "user"]


async def test_a_turn_of_work_comes_back_as_items(workspace: Path) -> None:
    driver = rehearsal()
    async with opened(driver, workspace) as session:
        options = options_in(workspace, "fullAccess")
        thread = await session.start_thread(options)
        work = (
            "write new.txt: hello", "append kept.txt: more", "delete new.txt", "run echo out; exit 3",
            "todo: a | b", "done: a", "compact", "subagent Helper: say: found",
        )  # fmt: skip
        text = "\n".join(work)
        events = await turn(session, thread.ref, text, options)
    assert isinstance(events[0], TurnAccepted)
    assert events[0].turn_ref is not None
    assert ended(events) == TurnEnded(status="completed")
    drafts = [event.draft for event in last_of_each(events).values()]
    changes = [(one.path, one.kind) for d in drafts if isinstance(d, FileChangeDraft) for one in d.changes]
    assert changes == [("new.txt", "add"), ("kept.txt", "modify"), ("new.txt", "delete")]
    (command,) = [draft for draft in drafts if isinstance(draft, CommandDraft)]
    assert (command.command, command.output, command.exit_code) == ("echo out; exit 3", "out\n", 3)
    (todo,) = [draft for draft in drafts if isinstance(draft, TodoDraft)]
    assert {(step.text, step.status) for step in todo.steps} == {("a", "completed"), ("b", "pending")}
    (helper,) = [draft for draft in drafts if isinstance(draft, SubagentDraft)]
    assert (helper.title, helper.result) == ("Helper", "found")
    assert len(of(HistoryCompacted, events)) == 1
    assert of(UsageReported, events)[-1].usage.context_window == 200_000


@pytest.mark.parametrize("flags", [(), ("--no-turn-started",)], ids=["announced", "not announced"])
async def test_the_turn_is_accepted_before_anything_else_and_once(workspace: Path, flags: tuple[str, ...]) -> None:
    async with opened(rehearsal(*flags), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        events = await turn(session, thread.ref, "say: one\nsay: two", options_in(workspace))
    assert isinstance(events[0], TurnAccepted)
    assert len(of(TurnAccepted, events)) == 1
    assert said(events) == "onetwo"


@pytest.mark.parametrize(
    ("flags", "channel"),
    [((), "embeddedResource"), (("--no-embedded-context",), "inlinePreamble")],
    ids=["embedded", "inline"],
)
async def test_a_handoff_arrives_byte_for_byte_before_the_users_words(
    workspace: Path, flags: tuple[str, ...], channel: str
) -> None:
    handoff = "# Handoff\n- caf\u00e9 \U0001f600\n"
    async with opened(rehearsal(*flags), workspace) as session:
        assert session.capabilities.handoff.channel == channel
        thread = await session.start_thread(options_in(workspace))
        block = ContextBlock(
            handoff_id="h1", channel=session.capabilities.handoff.channel or "nativeData", text=handoff
        )
        sent = TurnInput(context=(block,), attachments=(), text="say: hi")
        await until(session.run_turn(thread.ref, sent, options_in(workspace)), lambda event: False)
        assert (await recalled(session, thread.ref, workspace))[:2] == [handoff, "say: hi"]


@pytest.mark.parametrize("flags", [(), ("--no-resume",)], ids=["resume", "load"])
async def test_a_conversation_goes_on_in_another_process_without_a_replay(
    workspace: Path, flags: tuple[str, ...]
) -> None:
    async with opened(rehearsal(*flags), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        await turn(session, thread.ref, "say: before", options_in(workspace))
    async with opened(rehearsal(*flags), workspace) as session:
        assert (await session.resume_thread(thread.ref, options_in(workspace))).ref == thread.ref
        events = await turn(session, thread.ref, "say: after", options_in(workspace))
        assert said(events) == "after"
        assert await recalled(session, thread.ref, workspace) == ["say: before", "say: after", "recall"]


async def test_a_refused_resume_leaves_the_session_usable(workspace: Path) -> None:
    async with opened(rehearsal("--refuse-resume"), workspace) as session:
        with pytest.raises(ResumeFailed):
            await session.resume_thread("0" * 8, options_in(workspace))
        thread = await session.start_thread(options_in(workspace))
        assert said(await turn(session, thread.ref, "say: on", options_in(workspace))) == "on"


async def test_a_fork_has_the_history_up_to_its_turn(workspace: Path) -> None:
    async with opened(rehearsal(), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        first = await turn(session, thread.ref, "say: one", options_in(workspace))
        await turn(session, thread.ref, "say: two", options_in(workspace))
        assert isinstance(first[0], TurnAccepted)
        early = await session.fork_thread(thread.ref, first[0].turn_ref, options_in(workspace))
        head = await session.fork_thread(thread.ref, None, options_in(workspace))
        assert await recalled(session, early.ref, workspace) == ["say: one", "recall"]
        assert await recalled(session, head.ref, workspace) == ["say: one", "say: two", "recall"]


async def test_an_agent_that_cannot_fork_at_a_turn_says_so(workspace: Path) -> None:
    async with opened(rehearsal("--no-fork-at-turn"), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        with pytest.raises(ProviderError, match="cannot fork"):
            await session.fork_thread(thread.ref, "turn-1", options_in(workspace))


@pytest.mark.parametrize(("decision", "there"), [("accept", True), ("decline", False)])
async def test_a_permission_decides_what_happens(workspace: Path, decision: str, there: bool) -> None:
    async with opened(rehearsal(), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        running = session.run_turn(thread.ref, words("write new.txt: x"), options_in(workspace))
        request, before = await asked(running)
        assert request.target_ref == of(ItemChanged, before)[-1].ref
        chosen = next(option for option in request.options if option.decision == decision)
        reply = Reply(decision=chosen.decision, option_id=chosen.option_id, answers=None, message=None)
        await session.respond(thread.ref, request.ref, reply)
        end = ended(await until(running, lambda event: False))
    assert end.status == "completed"
    assert (workspace / "new.txt").exists() == there


async def test_a_mode_that_changes_between_turns_is_set_before_the_prompt(workspace: Path) -> None:
    async with opened(rehearsal(), workspace) as session:
        thread = await session.start_thread(options_in(workspace, "readOnly"))
        await turn(session, thread.ref, "write a.txt: x", options_in(workspace, "readOnly"))
        assert not (workspace / "a.txt").exists()
        events = await turn(session, thread.ref, "write b.txt: x", options_in(workspace, "autoAcceptEdits"))
    assert (workspace / "b.txt").exists()
    assert of(RequestAsked, events) == []


async def test_a_question_is_answered_in_words(workspace: Path) -> None:
    async with opened(rehearsal(), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        running = session.run_turn(thread.ref, words("ask: Which colour?"), options_in(workspace))
        request, _ = await asked(running)
        assert request.questions is not None
        assert request.questions[0].text == "Which colour?"
        answers = (Answer(question_id=request.questions[0].id, values=("blue",)),)
        reply = Reply(decision="accept", option_id=None, answers=answers, message=None)
        await session.respond(thread.ref, request.ref, reply)
        assert said(await until(running, lambda event: False)) == "Answer: blue"


async def test_steered_text_is_obeyed_in_the_running_turn(workspace: Path) -> None:
    async with opened(rehearsal(), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        running = session.run_turn(thread.ref, words("ask: Now?"), options_in(workspace))
        request, _ = await asked(running)
        assert await session.steer(thread.ref, "say: steered") == "queued"
        reply = Reply(decision="accept", option_id=None, answers=None, message=None)
        await session.respond(thread.ref, request.ref, reply)
        assert "steered" in said(await until(running, lambda event: False))
        assert await session.steer(thread.ref, "say: too late") == "refused"


async def test_an_interrupt_ends_a_turn_and_the_conversation_goes_on(workspace: Path) -> None:
    async with opened(rehearsal(), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        running = session.run_turn(thread.ref, words("say: begun\nsleep 60000"), options_in(workspace))
        await until(running, lambda event: isinstance(event, OutputAppended))
        await session.interrupt(thread.ref)
        assert ended(await until(running, lambda event: False)).status == "interrupted"
        assert said(await turn(session, thread.ref, "say: on", options_in(workspace))) == "on"


async def test_a_failure_has_its_class_and_a_crash_is_a_transport_error(workspace: Path) -> None:
    async with opened(rehearsal(), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        failed = ended(await turn(session, thread.ref, "fail: usage_limit: later", options_in(workspace)))
        assert failed.failure is not None
        assert (failed.status, failed.failure.class_, failed.failure.message) == ("failed", "usage_limit", "later")
        crashed = ended(await turn(session, thread.ref, "crash", options_in(workspace)))
        assert crashed.failure is not None
        assert crashed.failure.class_ == "transport_error"
        assert "exit status 3" in crashed.failure.message
        assert not session.live


async def test_a_prompt_over_the_window_is_refused_before_it_is_taken(workspace: Path) -> None:
    async with opened(rehearsal("--context-window", "10", "--enforce-window"), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        with pytest.raises(ProviderError) as raised:
            await turn(session, thread.ref, "x" * 400, options_in(workspace))
    assert raised.value.failure.class_ == "context_overflow"


async def test_the_model_is_the_one_asked_for_or_the_one_that_the_agent_reports(workspace: Path) -> None:
    async with opened(rehearsal("--models", "small,large", model="large"), workspace) as session:
        assert (await session.start_thread(options_in(workspace))).model == "large"
        assert (await session.start_thread(options_in(workspace, model="small"))).model == "small"
        assert (await session.start_thread(options_in(workspace, model="absent"))).model == "small"
        assert session.capabilities.models


async def test_a_closed_conversation_takes_no_turn_until_it_is_resumed(workspace: Path) -> None:
    async with opened(rehearsal(), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
        await turn(session, thread.ref, "say: one", options_in(workspace))
        await session.close_thread(thread.ref)
        with pytest.raises(ProviderError, match="not open"):
            await turn(session, thread.ref, "say: two", options_in(workspace))
        await session.resume_thread(thread.ref, options_in(workspace))
        assert said(await turn(session, thread.ref, "say: two", options_in(workspace))) == "two"


async def test_the_configured_environment_is_put_over_the_inherited_one(workspace: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "midstream.server.rehearsal", "--name", "other")
    config = ProviderConfig(driver="acp", command=command, env={"MIDSTREAM_REHEARSAL_DIR": str(tmp_path / "mine")})
    async with opened(AcpDriver("other", config), workspace) as session:
        thread = await session.start_thread(options_in(workspace))
    assert (tmp_path / "mine" / "other" / f"{thread.ref}.jsonl").is_file()


async def test_a_probe_tells_version_models_and_capabilities_and_leaves_no_process() -> None:
    provider = await rehearsal("--models", "small,large").probe()
    assert (provider.kind, provider.label, provider.installed, provider.version) == (
        "rehearsal",
        "Rehearsal",
        True,
        "1",
    )
    assert provider.authenticated
    assert provider.problem is None
    assert [model.id for model in provider.models] == ["small", "large"]
    assert provider.capabilities.fork_at_turn
    assert provider.capabilities.models
    assert psutil.Process().children() == []


async def test_a_probe_of_an_agent_that_is_not_there_says_what_to_do() -> None:
    driver = AcpDriver("gemini", ProviderConfig(driver="acp", command=("midstream-no-such-agent", "--acp")))
    provider = await driver.probe()
    assert not provider.installed
    assert provider.authenticated is None
    assert provider.problem is not None
    assert "midstream-no-such-agent" in provider.problem.message
    assert provider.problem.action == "Install it, or set providers.gemini.command."


async def test_a_probe_of_an_agent_without_a_login_says_how_to_log_in(tmp_path: Path) -> None:
    login = [{"error": {"code": -32000, "message": "Authentication required"}}]
    provider = await bad_agent(tmp_path, session_new=login).driver.probe()
    assert provider.installed
    assert provider.authenticated is False
    assert provider.version == "6.6.6"
    assert provider.problem is not None
    assert provider.problem.action is not None
    assert "Log in" in provider.problem.action


async def test_a_probe_of_an_agent_that_breaks_is_installed_and_has_a_problem() -> None:
    provider = await rehearsal("--crash-on", "initialize").probe()
    assert provider.installed
    assert provider.problem is not None
    assert "exit status 3" in provider.problem.message
