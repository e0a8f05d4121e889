"""What the driver needs of a Codex app-server, and the probe that tells what is there.

Codex has no list of its abilities, so each is asked for in a way that does nothing: a method without its
parameters is refused as incomplete where it is known and as unknown where it is not, and a field of the wrong
type is refused only where the field is known.
"""

import asyncio
import re
from typing import Final

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.records.provider import Capabilities, HandoffCapability
from midstream.server.providers.adapter import ProviderError
from midstream.server.providers.connection import AnswerError
from midstream.server.providers.failures import failure
from midstream.server.providers.reading import text_of
from midstream.server.providers.requests import Requests

TESTED_WITH: Final = "0.171.0"
NEEDED: Final = ("thread/resume", "turn/start", "turn/interrupt")
USED: Final = ("turn/steer", "thread/fork", "thread/revert", "thread/turns/list", "thread/unsubscribe")

INTRODUCTION: Final[JsonObject] = {
    "clientInfo": {"name": "midstream", "title": "Midstream", "version": "0"},
    "capabilities": {"experimentalApi": True, "requestAttestation": False},
}
"""What we say of ourselves; the experimental part of the protocol has context without authority."""

_NOWHERE: Final = "00000000-0000-0000-0000-000000000000"
_CONTEXT: Final[JsonObject] = {"threadId": _NOWHERE, "input": [], "additionalContext": 0}
_FORK_POINT: Final[JsonObject] = {"threadId": _NOWHERE, "lastTurnId": 0}
_UNKNOWN: Final = re.compile(r"unknown variant|unknown method|method not found", re.IGNORECASE)
_WRONG_TYPE: Final = re.compile(r"invalid type|expected", re.IGNORECASE)
_VERSION: Final = re.compile(r"/(\d+\.\d+\.\d+\S*)")


@frozen(kw_only=True)
class Abilities:
    """What a Codex can do beyond what is always needed."""

    version: str | None
    methods: frozenset[str]
    context: bool
    fork_at_turn: bool


UNKNOWN: Final = Abilities(version=None, methods=frozenset(), context=False, fork_at_turn=False)
"""A Codex that was not asked yet."""


async def probe(requests: Requests, initialized: JsonObject) -> Abilities:
    """Return what this Codex can do; `initialized` is its answer to ``initialize``.

    Raises:
        ProviderError: it lacks what the driver cannot do without.
    """
    version = version_of(initialized)
    methods = (*NEEDED, *USED)
    known = await asyncio.gather(*(_knows(requests, method) for method in methods))
    context = await _refuses_type(requests, "turn/start", _CONTEXT)
    fork_at_turn = await _refuses_type(requests, "thread/fork", _FORK_POINT)
    there = frozenset(method for method, here in zip(methods, known, strict=True) if here)
    if missing := [method for method in NEEDED if method not in there]:
        raise ProviderError(failure("validation_error", too_old(version, missing)))
    return Abilities(version=version, methods=there, context=context, fork_at_turn=fork_at_turn)


def version_of(initialized: JsonObject) -> str | None:
    """Return Codex's version, which stands after our own name in its user agent."""
    found = _VERSION.search(text_of(initialized, "userAgent") or "")
    return found[1] if found else None


def too_old(version: str | None, missing: list[str]) -> str:
    """Return what is wrong with a Codex that lacks something."""
    return f"Codex {version or 'of an unknown version'} is too old: it does not know {', '.join(missing)}."


async def _knows(requests: Requests, method: str) -> bool:
    try:
        await requests.attempt(method, {})
    except AnswerError as error:
        return not _UNKNOWN.search(str(error))
    return True


async def _refuses_type(requests: Requests, method: str, params: JsonObject) -> bool:
    try:
        await requests.attempt(method, params)
    except AnswerError as error:
        return bool(_WRONG_TYPE.search(str(error))) and not _UNKNOWN.search(str(error))
    return False


def capabilities(abilities: Abilities) -> Capabilities:
    """Return what the runtime may count on."""
    return Capabilities(
        resume=True,
        fork="thread/fork" in abilities.methods,
        fork_at_turn="thread/fork" in abilities.methods and abilities.fork_at_turn,
        rollback={"thread/revert", "thread/turns/list"} <= abilities.methods,
        steer="turn/steer" in abilities.methods,
        interrupt=True,
        approvals=True,
        questions=True,
        plans=True,
        todos=True,
        subagents=True,
        images=True,
        mcp_servers=True,
        models=True,
        summarize=False,  # in its read-only sandbox it still runs commands
        handoff=HandoffCapability(
            channel="nativeData" if abilities.context else "separateBlock",
            delta=True,
            full=True,
            context_window=None,
        ),
        native_ids="strong",
    )
