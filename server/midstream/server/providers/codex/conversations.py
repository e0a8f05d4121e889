"""The native conversations of one app-server: how they are opened, and what a turn in them is sent with."""

from typing import Final

from attrs import define

from midstream.protocol.base import JsonObject
from midstream.server.providers.adapter import (
    McpServer,
    NativeThread,
    NativeTurn,
    ProviderError,
    ResumeFailed,
    ThreadOptions,
    TurnInput,
)
from midstream.server.providers.codex.failures import rpc_failure
from midstream.server.providers.codex.input import additional_context, turn_input
from midstream.server.providers.codex.policy import thread_policy, turn_policy, widened
from midstream.server.providers.codex.requirements import Abilities
from midstream.server.providers.codex.usage import Tokens
from midstream.server.providers.connection import AnswerError
from midstream.server.providers.failures import failure
from midstream.server.providers.reading import member, members, text_of
from midstream.server.providers.requests import Requests, real_folder

STARTING_MILLISECONDS: Final = 10_000
"""How long a turn waits for servers to start: without it, the first one of a conversation goes without their tools."""

PAGE: Final = 100


@define
class OpenThread:
    """A conversation that is open: the sandbox that Codex said it has, and the tokens that it used so far."""

    sandbox: JsonObject
    used: Tokens | None = None


class Conversations:
    """Opens conversations; `model` is the one that is configured for this provider."""

    def __init__(self, requests: Requests, abilities: Abilities, model: str | None) -> None:
        self._requests = requests
        self._abilities = abilities
        self._model = model
        self._open: dict[str, OpenThread] = {}

    def get(self, ref: str) -> OpenThread:
        """Return a conversation that is open.

        Raises:
            ProviderError: it is not.
        """
        thread = self._open.get(ref)
        if thread is None:
            raise ProviderError(failure("validation_error", "The conversation is not open."))
        return thread

    async def start(self, options: ThreadOptions) -> NativeThread:
        """Start a conversation."""
        params = {**self._settings(options), "ephemeral": options.throw_away}
        return self._opened(await self._requests.call("thread/start", params), options)

    async def resume(self, ref: str, options: ThreadOptions) -> NativeThread:
        """Open a conversation of an earlier day; settings and permissions are asserted anew."""
        params = {"threadId": ref, "excludeTurns": True, **self._settings(options)}
        try:
            resumed = await self._requests.attempt("thread/resume", params)
        except AnswerError as error:
            raise ResumeFailed(rpc_failure(error.error)) from error
        return self._opened(resumed, options)

    async def fork(self, ref: str, turn_ref: str | None, options: ThreadOptions) -> NativeThread:
        """Fork a conversation after a turn, or at its head where `turn_ref` is None."""
        point: JsonObject = {} if turn_ref is None else {"lastTurnId": turn_ref}
        params = {"threadId": ref, **point, "excludeTurns": True, **self._settings(options)}
        return self._opened(await self._requests.call("thread/fork", params), options)

    async def revert(self, ref: str, turn_ref: str) -> None:
        """Drop a turn and all after it."""
        await self._requests.call("thread/revert", {"threadId": ref, "beforeTurnId": turn_ref})

    async def turns(self, ref: str) -> tuple[NativeTurn, ...]:
        """Return the turns as Codex has them now, oldest first."""
        turns: list[NativeTurn] = []
        cursor = None
        while True:
            params: JsonObject = {"threadId": ref, "cursor": cursor, "limit": PAGE, "sortDirection": "asc"}
            page = await self._requests.call("thread/turns/list", params)
            turns += [
                NativeTurn(ref=turn_ref, completed=turn.get("status") == "completed")
                for turn in members(page, "data")
                if (turn_ref := text_of(turn, "id"))
            ]
            cursor = text_of(page, "nextCursor")
            if cursor is None:
                return tuple(turns)

    async def close(self, ref: str) -> None:
        """Let go of a conversation."""
        if self._open.pop(ref, None) is not None and "thread/unsubscribe" in self._abilities.methods:
            await self._requests.call("thread/unsubscribe", {"threadId": ref})

    def turn_params(self, ref: str, turn: TurnInput, options: ThreadOptions) -> JsonObject:
        """Return what a turn is sent with."""
        context = additional_context(turn)
        if context and not self._abilities.context:
            raise ProviderError(failure("validation_error", "This Codex takes no context beside the user's message."))
        return {
            "threadId": ref,
            "input": turn_input(turn),
            "additionalContext": context or None,
            "model": options.model or self._model,
            "effort": text_of(options.options or {}, "effort"),
            **turn_policy(options.runtime_mode, self.get(ref).sandbox),
        }

    def _settings(self, options: ThreadOptions) -> JsonObject:
        """Return what a conversation is opened with; servers are added to those that the user configured."""
        config: JsonObject = {f"mcp_servers.{one.name}": _mcp_server(one) for one in options.mcp_servers}
        if config:
            config["mcp_optional_startup_grace_ms"] = STARTING_MILLISECONDS
        return {
            "cwd": str(real_folder(options.workspace)),
            "model": options.model or self._model,
            "modelProvider": text_of(options.options or {}, "modelProvider"),
            **thread_policy(options.runtime_mode),
            "config": config or None,
        }

    def _opened(self, opened: JsonObject, options: ThreadOptions) -> NativeThread:
        ref = text_of(member(opened, "thread"), "id")
        if ref is None:
            raise ProviderError(failure("provider_error", "Codex opened a conversation without an id."))
        if more := widened(options.runtime_mode, opened):
            message = f"Codex would run the conversation with {more}, which {options.runtime_mode} does not allow."
            raise ProviderError(failure("permission_error", message))
        self._open[ref] = OpenThread(member(opened, "sandbox"))
        return NativeThread(ref=ref, model=text_of(opened, "model"))


def _mcp_server(server: McpServer) -> JsonObject:
    """Return how Codex is to start a server: what is not said of it is as Codex has it."""
    bound = {} if server.call_seconds is None else {"tool_timeout_sec": server.call_seconds}
    return {"command": server.command, "args": list(server.args), "env": dict(server.env), **bound}
