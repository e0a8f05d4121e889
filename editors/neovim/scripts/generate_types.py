"""Writes the protocol's LuaCATS types from its JSON Schema, or with no `--write` sees that they are up to date."""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
SCHEMA = ROOT / "protocol" / "schema.json"
TYPES = ROOT / "editors" / "neovim" / "lua" / "midstream" / "types.lua"
HEAD = "---@meta\n-- Generated from protocol/schema.json by editors/neovim/scripts/generate_types.py.\n"
PREFIX = "midstream.protocol."
SIMPLE = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": "nil"}
# Enumerations that the schema spells out where they are used, and the plugin names.
NAMED = {"RuntimeMode": ("Thread", "runtimeMode"), "NextContext": ("Thread", "nextContext")}
NAMED |= {"Delivering": ("RunStartParams", "delivery")}

Json = dict[str, Any]


def lua_type(schema: Json) -> str:
    """Return the LuaCATS type of a schema."""
    match schema:
        case {"$ref": ref}:
            return PREFIX + ref.rpartition("/")[2]
        case {"const": value}:
            return json.dumps(value)
        case {"enum": values}:
            return "|".join(json.dumps(value) for value in values)
        case {"anyOf": parts} | {"oneOf": parts}:
            return "|".join(dict.fromkeys(lua_type(part) for part in parts))
        case {"type": "array", "items": items}:
            inner = lua_type(items)
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"table<string, {lua_type(values)}>"
        case {"type": str(name)}:
            return SIMPLE.get(name, "table")
        case _:
            return "any"


def class_of(name: str, schema: Json) -> str:
    """Return the annotation of one definition: a class with its fields, or an alias."""
    words = " ".join(schema.get("description", "").split())
    if "properties" not in schema:
        return f"---@alias {PREFIX}{name} {lua_type(schema)}\n"
    lines = [f"---@class {PREFIX}{name} {words}".rstrip()]
    for field, inner in schema["properties"].items():
        mark = "" if field in schema.get("required", []) else "?"
        lines.append(f"---@field {field}{mark} {lua_type(inner)}")
    return "\n".join(lines) + "\n"


def generate() -> str:
    """Return the whole file."""
    definitions = json.loads(SCHEMA.read_text())["$defs"]
    classes = [class_of(name, schema) for name, schema in sorted(definitions.items())]
    for name, (owner, field) in NAMED.items():
        classes.append(f"---@alias {PREFIX}{name} {lua_type(definitions[owner]['properties'][field])}\n")
    return "\n".join([HEAD, *classes])


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        TYPES.write_text(generate())
    else:
        sys.exit(TYPES.read_text() != generate() and f"{TYPES} is out of date; run this with --write.")
