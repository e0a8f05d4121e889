"""Runtime modes as Codex's approval policy and sandbox, and the check that Codex grants no more; pure."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.reading import member, text_of

Approval: TypeAlias = Literal["untrusted", "on-request", "never"]
Sandbox: TypeAlias = Literal["read-only", "workspace-write", "danger-full-access"]


@frozen
class Policy:
    """When Codex asks, and what it may do without."""

    approval: Approval
    sandbox: Sandbox


POLICIES: Final[Mapping[RuntimeMode, Policy]] = {
    "readOnly": Policy("never", "read-only"),
    "approvalRequired": Policy("untrusted", "workspace-write"),
    "autoAcceptEdits": Policy("on-request", "workspace-write"),
    "fullAccess": Policy("never", "danger-full-access"),
}
_TYPES: Final[Mapping[Sandbox, str]] = {
    "read-only": "readOnly",
    "workspace-write": "workspaceWrite",
    "danger-full-access": "dangerFullAccess",
}


def thread_policy(mode: RuntimeMode) -> JsonObject:
    """Return what is asserted when a conversation is opened; it is the user who reviews, never another model."""
    policy = POLICIES[mode]
    return {"approvalPolicy": policy.approval, "approvalsReviewer": "user", "sandbox": policy.sandbox}


def turn_policy(mode: RuntimeMode, opened: JsonObject) -> JsonObject:
    """Return what is asserted with a turn; `opened` is the sandbox that the conversation was opened with.

    That one is repeated where the mode is still the same: it holds what the user configured for Codex itself.
    """
    policy = POLICIES[mode]
    kind = _TYPES[policy.sandbox]
    sandbox = opened if opened.get("type") == kind else {"type": kind}
    return {"approvalPolicy": policy.approval, "approvalsReviewer": "user", "sandboxPolicy": sandbox}


def widened(mode: RuntimeMode, opened: JsonObject) -> str | None:
    """Return in words what Codex grants that was not asked for, None where it grants what was asserted."""
    policy = POLICIES[mode]
    approval, reviewer = opened.get("approvalPolicy"), opened.get("approvalsReviewer")
    sandbox = text_of(member(opened, "sandbox"), "type")
    if approval != policy.approval or reviewer not in (None, "user"):
        return f"the approval policy {approval} with reviewer {reviewer}"
    return None if sandbox == _TYPES[policy.sandbox] else f"the sandbox {sandbox}"
