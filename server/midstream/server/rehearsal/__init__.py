"""The embedded agent: a real Agent Client Protocol agent, scripted, offline, with its sessions on disk.

Its extensions of the protocol, each announced by ``initialize`` in ``agentCapabilities._meta.midstream``
(``{forkAtTurn, rewind, steer, questions, turnStarted}``, all booleans):

Requests to the agent (``RESOURCE_NOT_FOUND`` for an unknown session, ``INVALID_PARAMS`` for an unknown turn):

- ``_midstream/fork_at_turn {sessionId, turnId, cwd, mcpServers}`` answers as ``session/fork``; ``turnId`` is
  the last turn that the fork has. Turn ids stay the same in a fork.
- ``_midstream/rewind {sessionId, toTurn}`` keeps the turns up to and including ``toTurn`` (null: keeps none) and
  answers ``{turns: [turnId]}``, what is left, read back from disk. Refused (-32600) while a turn runs.
- ``_midstream/turns {sessionId}`` answers ``{turns: [turnId]}``; the session need not be open. Always there.
- ``_midstream/steer {sessionId, text}`` answers ``{accepted: bool}``.

In what the agent sends:

- a prompt's result has ``_meta {"midstream/turnId": turnId}``;
- ``session_info_update`` with ``_meta``
  ``{"midstream/turnStarted": {turnId}}``, first of all in a turn, once the prompt is in the native history;
  ``{"midstream/steerTaken": {turnId, text}}``, when steered text entered the native history;
  ``{"midstream/compaction": {summary}}``;
- ``session/request_permission`` for a question: kind ``other``, its options are the answers, and ``_meta``
  ``{"midstream/question": {text, freeText: true}}``; free text comes back in the result's ``_meta``
  ``{"midstream/answer": text}`` beside a selected option, and wins over it;
- a subagent's ``tool_call`` (kind ``think``) has ``_meta {"midstream/subagent": {title, prompt, dir}}``; what
  happens inside has ``_meta {"midstream/parent": toolCallId}``; its result is the call's last text content;
- an error answer to a prompt has ``data {class, resetAt?}``, ``class`` as in the protocol's ``Failure``.
"""
