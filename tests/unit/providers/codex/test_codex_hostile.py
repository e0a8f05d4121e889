"""What Codex says, whatever it is: it becomes records that can be stored, and breaks nothing."""

from itertools import count
from pathlib import Path
from typing import Any, Final

from hypothesis import example, given
from hypothesis import strategies as st

from midstream.protocol.records.run import Failure, Usage
from midstream.server.graph.commands import ObservedItem, ObservedRequest, ObservedUsage
from midstream.server.providers.adapter import Reply
from midstream.server.providers.codex.approvals import answer, parse_approval, request_asked
from midstream.server.providers.codex.failures import rpc_failure, turn_failure
from midstream.server.providers.codex.known import USED, children_of, is_known
from midstream.server.providers.codex.updates import Translator
from midstream.server.providers.connection import Notification, Request
from midstream.server.runtime.transcript import Setting, Transcript
from midstream.server.store.codec import decode, encode

WORKSPACE: Final = Path("/w")
KEYS: Final = [
    *(
        "item",
        "id",
        "type",
        "status",
        "text",
        "delta",
        "itemId",
        "threadId",
        "turn",
        "error",
        "message",
        "plan",
        "step",
    ),
    *("summary", "content", "command", "cwd", "aggregatedOutput", "exitCode", "changes", "path", "kind", "diff"),
    *("move_path", "server", "tool", "arguments", "result", "query", "results", "title", "url", "receiverThreadIds"),
    *("tokenUsage", "total", "last", "inputTokens", "outputTokens", "totalTokens", "modelContextWindow", "willRetry"),
    *("codexErrorInfo", "additionalDetails", "httpStatusCode", "primary", "secondary", "usedPercent", "resetsAt"),
    *("questions", "options", "label", "question", "requestedSchema", "properties", "enum", "_meta", "persist", "mode"),
    *(
        "availableDecisions",
        "permissions",
        "networkApprovalContext",
        "additionalPermissions",
        "reason",
        "data",
        "model",
    ),
]
WORDS: Final = [
    *("agentMessage", "reasoning", "plan", "commandExecution", "fileChange", "mcpToolCall", "collabAgentToolCall"),
    *("webSearch", "contextCompaction", "userMessage", "subAgentActivity", "dynamicToolCall", "spawnAgent", "started"),
    *("inProgress", "completed", "failed", "add", "update", "delete", "usageLimitExceeded", "form", "string", "root"),
]
VALUE: Final = st.recursive(
    st.sampled_from([None, True, -1, 0, 7, 100, 2**53 + 1, 2**64 - 1, 0.5, "", "x", "'", "../..", *WORDS]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
OBJECT: Final = st.dictionaries(st.sampled_from(KEYS), VALUE, max_size=6)
ITEM: Final = st.builds(
    lambda kind, name, rest: {"item": {**rest, "type": kind, "id": name}, "itemId": name, "threadId": "root"},
    st.sampled_from(WORDS),
    st.sampled_from("ab"),
    OBJECT,
)
TOLD: Final = st.builds(Notification, st.sampled_from(sorted(USED)), ITEM | OBJECT, st.just(0))
ASKED: Final = st.builds(
    Request,
    st.just(7),
    st.sampled_from(
        [
            "item/commandExecution/requestApproval",
            "item/fileChange/requestApproval",
            "item/permissions/requestApproval",
            "item/tool/requestUserInput",
            "mcpServer/elicitation/request",
        ]
    ),
    OBJECT,
    st.just(0),
)


@given(st.lists(TOLD, max_size=5), ASKED)
def test_whatever_codex_tells_becomes_records_that_can_be_stored_and_read(
    notifications: list[Notification], asked: Request
) -> None:
    translator, numbers = Translator("root", "turn", WORKSPACE, None), count()
    setting = Setting(thread_id="thr_1", run_id="run_1", provider="codex", provider_thread_id="pth_1")
    transcript = Transcript(setting, lambda prefix: f"{prefix}_{next(numbers)}")
    events = []
    for told in notifications:
        is_known(told)
        list(children_of(told))
        events += translator.translate(told)
    approval = parse_approval(asked)
    assert approval is not None
    target, changes = translator.target(asked.params)
    asking = request_asked("ref", approval, target, changes, WORKSPACE)
    for observation in transcript.take([*events, asking, *translator.finish("completed")]):
        match observation:
            case ObservedItem(item=record) | ObservedRequest(request=record):
                assert decode(encode(record), type(record)) == record
            case ObservedUsage(usage=record):
                assert decode(encode(record), Usage) == record
            case _:
                pass
    for decision in ("accept", "acceptForSession", "decline", "cancel"):
        assert answer(approval, Reply(decision=decision, option_id=None, answers=None, message=None))


@given(OBJECT, OBJECT)
@example({"codexErrorInfo": "usageLimitExceeded"}, {"primary": {"usedPercent": 100, "resetsAt": 2**53}})
def test_whatever_codex_fails_with_is_a_failure_that_can_be_stored(error: Any, limits: Any) -> None:
    for why in (turn_failure(error, limits), rpc_failure(error)):
        assert decode(encode(why), Failure) == why
