"""Reading what a request gave; anything missing or of a wrong shape is an ``INVALID_PARAMS`` error."""

from pathlib import Path

from midstream.server.rehearsal.directives import JsonObject
from midstream.server.rehearsal.options import Options
from midstream.server.rehearsal.rpc import INVALID_PARAMS, RpcError


def text(params: JsonObject, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise RpcError(INVALID_PARAMS, f"{name} must be a string.")
    return value


def directory(params: JsonObject) -> Path:
    """The session's ``cwd``: absolute, and there."""
    path = Path(text(params, "cwd"))
    if not path.is_absolute() or not path.is_dir():
        raise RpcError(INVALID_PARAMS, f"cwd must be the absolute path of a directory, not {path}.")
    return path


def prompt_blocks(params: JsonObject, options: Options) -> list[JsonObject]:
    """The prompt's content blocks, all of kinds that the agent announced."""
    blocks = params.get("prompt")
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise RpcError(INVALID_PARAMS, "prompt must be a list of content blocks.")
    for block in blocks:
        match block.get("type"):
            case "text" | "resource_link":
                continue
            case "resource" if options.can("embedded-context"):
                continue
            case "image" if options.can("image"):
                continue
            case kind:
                raise RpcError(INVALID_PARAMS, f"This agent takes no content block of type {kind}.")
    return blocks


def meta(given: JsonObject) -> JsonObject:
    """What a request carries beside the protocol's own parameters."""
    value = given.get("_meta")
    return value if isinstance(value, dict) else {}
