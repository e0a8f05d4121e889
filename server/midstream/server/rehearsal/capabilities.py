"""What the agent announces in its answer to ``initialize``: exactly what its flags left on."""

from midstream.server.rehearsal.directives import JsonObject
from midstream.server.rehearsal.options import Options

PROTOCOL_VERSION = 1
_EXTENSIONS = {
    "forkAtTurn": "fork-at-turn",
    "rewind": "rewind",
    "steer": "steer",
    "questions": "questions",
    "turnStarted": "turn-started",
    "throwAway": "throw-away",
}


def initialize_result(options: Options) -> JsonObject:
    sessions: JsonObject = {name: {} for name in ("list", "resume", "fork", "close") if options.can(name)}
    capabilities: JsonObject = {
        "loadSession": options.can("load"),
        "promptCapabilities": {
            "image": options.can("image"),
            "audio": False,
            "embeddedContext": options.can("embedded-context"),
        },
        "mcpCapabilities": {"http": False, "sse": False},
        "sessionCapabilities": sessions,
        "_meta": {"midstream": {name: options.can(ability) for name, ability in _EXTENSIONS.items()}},
    }
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "agentCapabilities": capabilities,
        "agentInfo": {"name": options.name, "title": options.name.capitalize(), "version": "1"},
        "authMethods": [],
    }
