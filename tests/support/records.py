"""Protocol records with defaults: a test names only what it is about."""

from typing import Any, TypeVar

from midstream.protocol.base import Reason, RunRange
from midstream.protocol.records.checkpoint import Checkpoint, FileSummary
from midstream.protocol.records.handoff import ContextTransfer, Delivery, HandoffInfo, HandoffTokens
from midstream.protocol.records.item import ItemBase
from midstream.protocol.records.provider import Capabilities, HandoffCapability, ProviderThread
from midstream.protocol.records.request import RequestDetail, RuntimeRequest
from midstream.protocol.records.run import Message, Run
from midstream.protocol.records.thread import Lineage, ModelSelection, SourcePoint, Thread

NOW = "2026-12-01T16:00:00.000Z"
ItemT = TypeVar("ItemT", bound=ItemBase)


def selection(provider: str = "codex", model: str | None = None) -> ModelSelection:
    return ModelSelection(provider=provider, model=model)


def thread(**fields: Any) -> Thread:
    defaults: dict[str, Any] = {
        "id": "thr_1",
        "title": "A thread",
        "workspace": "file:///w",
        "selection": selection(),
        "next_context": "auto",
        "runtime_mode": "approvalRequired",
        "active_provider_thread_id": None,
        "lineage": Lineage(parent_thread_id=None, relationship_to_parent=None, root_thread_id="thr_1"),
        "forked_from": None,
        "origin": "native",
        "queue_held": False,
        "pending_transfer_ids": (),
        "status": "idle",
        "created_at": NOW,
        "updated_at": NOW,
        "archived_at": None,
    }
    return Thread(**defaults | fields)


def run(ordinal: int | None, provider: str = "codex", **fields: Any) -> Run:
    """A run, completed unless told otherwise; its id is ``run_<ordinal>``."""
    defaults: dict[str, Any] = {
        "id": f"run_{ordinal}",
        "thread_id": "thr_1",
        "ordinal": ordinal,
        "selection": selection(provider),
        "provider": provider,
        "provider_thread_id": None,
        "context_handoff_id": None,
        "handoff_ids": (),
        "transfer_ids": (),
        "plan": None,
        "status": "completed",
        "message": Message(text="do it", attachments=()),
        "attempts": (),
        "baseline_checkpoint_id": None,
        "checkpoint_id": None,
        "failure": None,
        "usage": None,
        "queue_position": None,
        "requested_at": NOW,
        "started_at": NOW,
        "interrupt_requested_at": None,
        "completed_at": NOW,
    }
    return Run(**defaults | fields)


def item(kind: type[ItemT], ordinal: int, in_run: int | None = 1, **fields: Any) -> ItemT:
    """An item of a run, completed unless told otherwise; its id is ``itm_<ordinal>``."""
    defaults: dict[str, Any] = {
        "id": f"itm_{ordinal}",
        "thread_id": "thr_1",
        "run_id": None if in_run is None else f"run_{in_run}",
        "parent_item_id": None,
        "ordinal": ordinal,
        "status": "completed",
        "provider_thread_id": None,
        "native_ref": None,
        "started_at": NOW,
        "completed_at": NOW,
    }
    by_kind: dict[str, dict[str, Any]] = {
        "UserMessageItem": {"attachments": (), "intent": "start"},
        "CommandItem": {"cwd": ".", "output": "", "exit_code": 0},
        "ToolItem": {"input": {}},
        "SubagentItem": {"prompt": "", "child_thread_id": None, "provider": "codex", "result": None},
        "CheckpointItem": {"checkpoint_id": "ckp_1"},
        "ApprovalItem": {"request_id": "req_1", "kind": "command", "decision": None},
        "QuestionItem": {"request_id": "req_1", "answers": None},
    }
    return kind(**defaults | by_kind.get(kind.__name__, {}) | fields)


def capabilities(**fields: Any) -> Capabilities:
    """What a provider can do: everything, unless told otherwise; `channel`, `delta`, `full` are those of handoffs."""
    handoff = HandoffCapability(
        channel=fields.pop("channel", "separateBlock"),
        delta=fields.pop("delta", True),
        full=fields.pop("full", True),
        context_window=fields.pop("context_window", None),
    )
    names = (
        "resume fork fork_at_turn rollback steer interrupt approvals questions plans todos subagents images "
        "mcp_servers models summarize"
    )
    able: dict[str, Any] = dict.fromkeys(names.split(), True)
    return Capabilities(**able | {"handoff": handoff, "native_ids": "strong"} | fields)


def provider_thread(provider: str = "codex", native: tuple[int, ...] = (), **fields: Any) -> ProviderThread:
    """A provider's native conversation that lived the runs `native`; its id is ``pth_<provider>``."""
    defaults: dict[str, Any] = {
        "id": f"pth_{provider}",
        "thread_id": "thr_1",
        "provider": provider,
        "session_id": None,
        "native_ref": f"native-{provider}",
        "model": None,
        "status": "idle",
        "first_run_ordinal": native[0] if native else None,
        "last_run_ordinal": native[-1] if native else None,
        "native_run_ordinals": native,
        "handoff_ids": (),
        "missing_item_ids": (),
        "forked_from": None,
        "stale_reasons": (),
    }
    return ProviderThread(**defaults | fields)


def handoff(id_: str, ordinals: tuple[int, ...], **fields: Any) -> HandoffInfo:
    """A delivered delta over run ordinals of its own thread."""
    defaults: dict[str, Any] = {
        "id": id_,
        "transfer_id": "trf_1",
        "thread_id": "thr_1",
        "target_run_id": None,
        "from_provider_thread_ids": (),
        "to_provider_thread_id": None,
        "covered_thread_id": "thr_1",
        "covered_run_ordinals": RunRange(from_=ordinals[0], to=ordinals[-1]) if ordinals else None,
        "run_ordinals": ordinals,
        "strategy": "delta_since_target_last_seen",
        "tokens": HandoffTokens(budget=16_000, estimated=100),
        "redactions": 0,
        "status": "ready",
        "superseded_by": None,
        "created_by": "deterministic",
        "created_by_provider": None,
        "fallback_reason": None,
        "delivery": delivery("delivered"),
        "created_at": NOW,
        "updated_at": NOW,
    }
    return HandoffInfo(**defaults | fields)


def delivery(status: Any) -> Delivery:
    return Delivery(native_thread_ref=None, channel="separateBlock", status=status, sha256="0" * 64)


def transfer(id_: str, type_: Any, **fields: Any) -> ContextTransfer:
    """A pending transfer into ``thr_1``."""
    defaults: dict[str, Any] = {
        "id": id_,
        "type": type_,
        "source_thread_id": "thr_0",
        "target_thread_id": "thr_1",
        "source_point": SourcePoint(thread_id="thr_0"),
        "base_point": None,
        "source_provider": None,
        "target_provider": None,
        "target_run_id": None,
        "status": "pending",
        "resolution": None,
        "created_by": "user",
        "error": None,
        "created_at": NOW,
        "consumed_at": None,
    }
    return ContextTransfer(**defaults | fields)


def checkpoint(id_: str = "ckp_1", **fields: Any) -> Checkpoint:
    defaults: dict[str, Any] = {
        "id": id_,
        "thread_id": "thr_1",
        "scope_id": "w",
        "run_id": "run_1",
        "run_ordinal": 1,
        "parent_checkpoint_id": None,
        "label": None,
        "kind": "run",
        "ref": "refs/1",
        "status": "ready",
        "mixed": False,
        "files": (),
        "skipped": (),
        "problem": None,
        "captured_at": NOW,
    }
    return Checkpoint(**defaults | fields)


def file(path: str, **fields: Any) -> FileSummary:
    defaults: dict[str, Any] = {"status": "modified", "additions": 1, "deletions": 0, "binary": False}
    return FileSummary(path=path, **defaults | fields)


def request(id_: str, prompt: str, **fields: Any) -> RuntimeRequest:
    """A request that waits for the user."""
    defaults: dict[str, Any] = {
        "thread_id": "thr_1",
        "run_id": "run_1",
        "item_id": "itm_request",
        "target_item_id": None,
        "kind": "command",
        "detail": RequestDetail(),
        "options": (),
        "accepts_message": False,
        "status": "pending",
        "decision": None,
        "message": None,
        "answers": None,
        "created_at": NOW,
        "resolved_at": None,
    }
    return RuntimeRequest(id=id_, prompt=prompt, **defaults | fields)


def reason(code: Any) -> Reason:
    return Reason(code=code, message=f"because of {code}")
