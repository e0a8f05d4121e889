"""PROTOCOL.md, read as a machine reads it: its fenced blocks, each type in one canonical spelling."""

import json
import re
from pathlib import Path
from typing import Final, TypeAlias

from attrs import field, frozen

Fields: TypeAlias = dict[str, str]
"""Names, with their `?`, and canonical types."""

DOCUMENT: Final = Path(__file__).parents[2] / "protocol" / "PROTOCOL.md"
BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ERROR_ROW: Final = re.compile(r"^\| (\d{4}) \| `(\w+)` \|", re.MULTILINE)
DEFAULT: Final = re.compile(r"# default: ([^;\n]+)")
ARMS: Final = re.compile(r'"[^"]*"|\[.*?\]+|\{string:.*\}|\w+')


@frozen
class MethodText:
    """What the document says of a method; `result` is a record's name, `null`, or fields."""

    changes: bool
    params: Fields
    result: str | Fields
    errors: tuple[str, ...]


@frozen
class Contract:
    """All that a test can compare."""

    names: frozenset[str]
    records: dict[str, Fields]
    defaults: dict[str, dict[str, object]]
    methods: dict[str, MethodText]
    notifications: dict[str, Fields]
    errors: dict[str, int]
    frames: list[dict[str, object]] = field(repr=False)


def canonical(arms: frozenset[str]) -> str:
    """Return the one spelling of a union's arms."""
    return " | ".join(sorted(arms))


def read_contract() -> Contract:
    """Parse the whole document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    blocks: dict[str, list[str]] = {}
    for kind, body in BLOCK.findall(text):
        blocks.setdefault(kind, []).append(body)
    errors = {kind: int(code) for code, kind in ERROR_ROW.findall(text)}
    aliases = dict(_plain(line).split(" = ") for body in blocks["types"] for line in body.splitlines())
    types = _Types({**aliases, "ErrorKind": " | ".join(f'"{kind}"' for kind in errors)})
    entries = [entry for body in blocks["record"] for entry in body.strip().split("\n\n")]
    return Contract(
        names=frozenset(aliases),
        records=_records(entries, types),
        defaults={entry.split()[0]: found for entry in entries if (found := _defaults(entry))},
        methods=dict(_method(body, types) for body in blocks["method"]),
        notifications={body.split()[0]: types.fields(body.splitlines()[1:]) for body in blocks["notification"]},
        errors=errors,
        frames=[json.loads(body) for body in blocks["json"]],
    )


def words_of(text: str) -> frozenset[str]:
    """Return the names that stand in the document's blocks of types."""
    bodies = [body for kind, body in BLOCK.findall(text) if kind not in ("json", "text")]
    declared = re.compile(r"^(\w+) = ", re.MULTILINE)
    return frozenset(
        word
        for body in bodies
        for line in declared.sub("", body).splitlines()
        for word in re.findall(r"\w+", _plain(line))
    )


class _Types:
    def __init__(self, aliases: dict[str, str]) -> None:
        self._aliases: Final = aliases

    def fields(self, lines: list[str]) -> Fields:
        pairs = (_plain(line).strip().split(": ", 1) for line in lines)
        return {name: canonical(self._arms(type_)) for name, type_ in pairs}

    def _arms(self, text: str) -> frozenset[str]:
        return frozenset().union(*(self._arm(arm) for arm in ARMS.findall(text)))

    def _arm(self, arm: str) -> frozenset[str]:
        if arm.startswith("["):
            return frozenset({f"[{canonical(self._arms(arm[1:-1]))}]"})
        if arm.startswith("{"):
            return frozenset({f"{{string: {canonical(self._arms(arm[8:-1]))}}}"})
        return self._arms(self._aliases[arm]) if arm in self._aliases else frozenset({arm})


def _plain(line: str) -> str:
    return re.sub(r"\s+#.*", "", line)


def _records(entries: list[str], types: _Types) -> dict[str, Fields]:
    records: dict[str, Fields] = {}
    for head, *lines in (entry.splitlines() for entry in entries):
        name, *base = head.split(" : ")
        records[name] = {**(records[base[0]] if base else {}), **types.fields(lines)}
    return records


def _defaults(entry: str) -> dict[str, object]:
    return {
        line.split("?:")[0].strip(): json.loads(found[1])
        for line in entry.splitlines()
        if (found := DEFAULT.search(line))
    }


def _method(body: str, types: _Types) -> tuple[str, MethodText]:
    head, _, *lines = body.splitlines()
    *lines, errors = lines
    cut = next(index for index, line in enumerate(lines) if line.startswith("result"))
    named = _plain(lines[cut]).removeprefix("result").strip()
    name, *changes = head.split()
    method = MethodText(
        changes=changes == ["changes"],
        params=types.fields(lines[:cut]),
        result=named or types.fields(lines[cut + 1 :]),
        errors=tuple(errors.split()[1:]),
    )
    return name, method
