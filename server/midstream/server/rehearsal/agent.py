"""The agent's requests: sessions and prompts over the Agent Client Protocol, and our extensions of it."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from midstream.server.rehearsal import history, messages, params
from midstream.server.rehearsal.capabilities import initialize_result
from midstream.server.rehearsal.conversation import Conversation, UnknownSessionError, stored_sessions
from midstream.server.rehearsal.directives import JsonObject
from midstream.server.rehearsal.mcp import McpServers, read_configs
from midstream.server.rehearsal.options import Options
from midstream.server.rehearsal.permissions import Mode
from midstream.server.rehearsal.rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    Peer,
    RpcError,
)
from midstream.server.rehearsal.session import MODEL_OPTION, Session
from midstream.server.rehearsal.turn import CRASH_STATUS, Place, Turn
from midstream.server.rehearsal.updates import Updates

Method: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]


class Agent:
    """The rehearsal agent at one end of a connection."""

    def __init__(self, writer: asyncio.StreamWriter, options: Options) -> None:
        self.peer = Peer(writer, self._request, self._notification)
        self._options = options
        self._sessions: dict[str, Session] = {}
        self._methods: dict[str, tuple[str | None, Method]] = {
            "initialize": (None, self._initialize),
            "session/new": (None, self._new),
            "session/load": ("load", self._load),
            "session/resume": ("resume", self._resume),
            "session/fork": ("fork", self._fork),
            "session/list": ("list", self._list),
            "session/close": ("close", self._close),
            "session/set_mode": ("modes", self._set_mode),
            "session/set_model": (None, self._set_model),
            "session/set_config_option": (None, self._set_config_option),
            "session/prompt": (None, self._prompt),
            "_midstream/fork_at_turn": ("fork-at-turn", self._fork_at_turn),
            "_midstream/rewind": ("rewind", self._rewind),
            "_midstream/turns": (None, self._turns),
            "_midstream/steer": ("steer", self._steer),
        }

    async def end(self) -> None:
        """End every process that the sessions started."""
        for session in self._sessions.values():
            await session.mcp.close()

    async def _request(self, method: str, given: JsonObject) -> JsonObject:
        ability, answer = self._methods.get(method, (None, None))
        if answer is None or (ability is not None and not self._options.can(ability)):
            raise RpcError(METHOD_NOT_FOUND, f"No method {method}.")
        return await answer(given)

    def _notification(self, method: str, given: JsonObject) -> None:
        session = self._sessions.get(str(given.get("sessionId")))
        if method == "session/cancel" and session is not None and session.turn is not None:
            session.turn.cancel()

    def _crash_on(self, phase: str) -> None:
        if self._options.crash_on == phase:
            os._exit(CRASH_STATUS)

    async def _initialize(self, given: JsonObject) -> JsonObject:
        self._crash_on("initialize")
        return initialize_result(self._options)

    async def _new(self, given: JsonObject) -> JsonObject:
        self._crash_on("new")
        cwd = params.directory(given)
        throw_away = self._options.can("throw-away") and params.meta(given).get("midstream/throwAway") is True
        begin = Conversation.fleeting if throw_away else Conversation.create
        session = await self._open(begin(self._options.state_dir, str(cwd)), given)
        return self._described(session)

    async def _load(self, given: JsonObject) -> JsonObject:
        session = await self._reopen(given)
        for update in history.replay(session.conversation.records):
            notice: JsonObject = {"sessionId": session.conversation.session_id, "update": update}
            await self.peer.notify("session/update", notice)
        return session.setup(self._options)

    async def _resume(self, given: JsonObject) -> JsonObject:
        return (await self._reopen(given)).setup(self._options)

    async def _reopen(self, given: JsonObject) -> Session:
        self._crash_on("resume")
        if self._options.refuse_resume:
            raise RpcError(INTERNAL_ERROR, "The session cannot be resumed.")
        return await self._open(self._stored(given), given)

    async def _fork(self, given: JsonObject) -> JsonObject:
        return await self._fork_with(self._stored(given).records, given)

    async def _fork_at_turn(self, given: JsonObject) -> JsonObject:
        return await self._fork_with(_until(self._stored(given), params.text(given, "turnId")), given)

    async def _fork_with(self, records: tuple[history.Record, ...], given: JsonObject) -> JsonObject:
        cwd = params.directory(given)
        fork = Conversation.create(self._options.state_dir, str(cwd), records)
        return self._described(await self._open(fork, given))

    async def _list(self, given: JsonObject) -> JsonObject:
        sessions: list[JsonObject] = [
            {
                "sessionId": stored.session_id,
                "cwd": stored.cwd,
                "title": stored.title,
                "updatedAt": stored.updated_at,
            }
            for stored in stored_sessions(self._options.state_dir)
            if given.get("cwd") in (None, stored.cwd)
        ]
        return {"sessions": sessions}

    async def _close(self, given: JsonObject) -> JsonObject:
        session = self._live(given)
        if session.turn is not None:
            session.turn.cancel()
        del self._sessions[session.conversation.session_id]
        await session.mcp.close()
        return {}

    async def _set_mode(self, given: JsonObject) -> JsonObject:
        mode = params.text(given, "modeId")
        if mode not in list(Mode):
            raise RpcError(INVALID_PARAMS, f"No mode {mode}; there are {', '.join(Mode)}.")
        self._live(given).permissions.mode = Mode(mode)
        return {}

    async def _set_model(self, given: JsonObject) -> JsonObject:
        self._choose_model(self._live(given), params.text(given, "modelId"))
        return {}

    async def _set_config_option(self, given: JsonObject) -> JsonObject:
        session = self._live(given)
        if params.text(given, "configId") != MODEL_OPTION:
            raise RpcError(INVALID_PARAMS, f"The only option is {MODEL_OPTION}.")
        self._choose_model(session, params.text(given, "value"))
        return {"configOptions": session.config_options(self._options)}

    def _choose_model(self, session: Session, model: str) -> None:
        if model not in self._options.models:
            raise RpcError(INVALID_PARAMS, f"No model {model}.")
        session.model = model

    async def _prompt(self, given: JsonObject) -> JsonObject:
        self._crash_on("prompt")
        session = self._live(given)
        session.require_idle()
        blocks = params.prompt_blocks(given, self._options)
        self._require_room(session, blocks)
        turn = Turn(session.conversation, session.permissions, session.mcp, self._options)
        updates = Updates(self.peer, session.conversation, turn.id)
        session.turn = turn
        try:
            stop_reason = await turn.run(blocks, Place(session.cwd, updates))
            used = history.tokens(session.conversation.records)
            await updates.notify(messages.usage(used, self._options.context_window))
        finally:
            session.turn = None
        return {"stopReason": stop_reason, "_meta": {"midstream/turnId": turn.id}}

    def _require_room(self, session: Session, blocks: list[JsonObject]) -> None:
        prompt = sum(len(messages.block_text(block)) for block in blocks) // 4
        needed = history.tokens(session.conversation.records) + prompt
        if self._options.enforce_window and needed > self._options.context_window:
            raise RpcError(
                INTERNAL_ERROR,
                f"The prompt needs {needed} of {self._options.context_window} tokens.",
                {"class": "context_overflow"},
            )

    async def _rewind(self, given: JsonObject) -> JsonObject:
        session = self._live(given)
        session.require_idle()
        to_turn = None if given.get("toTurn") is None else params.text(given, "toTurn")
        _until(session.conversation, to_turn)
        session.conversation.append(history.Rewound(to_turn))
        return await self._turns(given)

    async def _turns(self, given: JsonObject) -> JsonObject:
        return {"turns": list(history.turn_ids(self._stored(given).records))}

    async def _steer(self, given: JsonObject) -> JsonObject:
        turn = self._live(given).turn
        return {"accepted": turn is not None and turn.steer(params.text(given, "text"))}

    async def _open(self, conversation: Conversation, given: JsonObject) -> Session:
        cwd = params.directory(given)
        if previous := self._sessions.get(conversation.session_id):
            previous.require_idle()
            await previous.mcp.close()
        configs = read_configs(given.get("mcpServers")) if self._options.can("mcp") else ()
        model = self._options.models[0] if self._options.models else None
        session = Session(conversation, cwd, McpServers(configs), model)
        self._sessions[conversation.session_id] = session
        return session

    def _live(self, given: JsonObject) -> Session:
        session_id = params.text(given, "sessionId")
        if session_id not in self._sessions:
            raise RpcError(RESOURCE_NOT_FOUND, f"No session {session_id} is open.")
        return self._sessions[session_id]

    def _stored(self, given: JsonObject) -> Conversation:
        session_id = params.text(given, "sessionId")
        try:
            return Conversation.open(self._options.state_dir, session_id)
        except UnknownSessionError as unknown:
            raise RpcError(RESOURCE_NOT_FOUND, f"No session {session_id}.") from unknown

    def _described(self, session: Session) -> JsonObject:
        return {"sessionId": session.conversation.session_id, **session.setup(self._options)}


def _until(conversation: Conversation, to_turn: str | None) -> tuple[history.Record, ...]:
    try:
        return history.until_turn(conversation.records, to_turn)
    except ValueError as unknown:
        raise RpcError(INVALID_PARAMS, f"No turn {to_turn} in this session.") from unknown
