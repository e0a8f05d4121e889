"""Secrets taken out of what is handed to another agent: by their shape, by the name they stand behind, by value."""

import re
from collections.abc import Callable
from typing import Final

from midstream.protocol.records.item import Item
from midstream.server.handoff.text import clean

_NAMES: Final = (
    r"(?:[A-Za-z0-9_.-]*(?:api[_-]?key|secret(?:[_-]?(?:access)?[_-]?key)?|access[_-]?key|private[_-]?key"
    r"|passw(?:or)?d|passphrase|(?:access|auth|refresh|bearer|api|session|bot|id|github|gitlab|npm|slack)[_-]?token"
    r"|credentials?))"
)
_ENV_NAMES: Final = r"[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|DSN)"
_QUOTED: Final = r"""(?:"[^"\n]{6,}"|'[^'\n]{6,}')"""
_BARE: Final = r"""[^\s"'`,;(){}\[\]<>$]{8,}"""
_KEY: Final = r"[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_KEY_LINES: Final = r"(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/=]{32,}+\s++){1,200}+"

_RULES: Final[tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]] = tuple(
    (kind, tuple(hints.split()), re.compile(pattern))
    for kind, hints, pattern in (
        ("private key", "-----begin -----end", rf"-----BEGIN {_KEY}[^-]*(?:-[^-]+)*-----END {_KEY}"),
        # Output that was shortened holds only the start of a key, or its end.
        (
            "private key",
            "-----begin -----end",
            rf"-----BEGIN {_KEY}\s+{_KEY_LINES}|{_KEY_LINES}[A-Za-z0-9+/=]*\s*-----END {_KEY}",
        ),
        ("connection string", "://", r"(?<=://)[^\s/:@'\"]*:[^\s/@'\"]+(?=@)"),
        ("API key", "sk-", r"\bsk-(?:ant-|proj-|svcacct-|or-)?(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}"),
        ("API key", "_live_ _test_", r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}"),
        ("API key", "aiza", r"\bAIza[A-Za-z0-9_-]{35}"),
        (
            "token",
            "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat-",
            r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|glpat-[A-Za-z0-9_-]{20,})",
        ),
        ("token", "xox npm_", r"\b(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{36})"),
        ("token", "pypi- hf_", r"\b(?:pypi-[A-Za-z0-9_-]{40,}|hf_[A-Za-z0-9]{30,})"),
        ("token", "sg.", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
        ("token", "ya29.", r"\bya29\.[A-Za-z0-9_-]{20,}"),
        ("token", "dop_v1_ glsa_", r"\b(?:dop_v1_[a-f0-9]{64}|glsa_[A-Za-z0-9_]{30,})"),
        ("token", "hooks.slack.com", r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}"),
        ("private key", "age-secret-key-", r"(?i)\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
        ("access key", "accountkey=", r"(?i)(?<=\bAccountKey=)[A-Za-z0-9+/]{40,}={0,2}"),
        ("access key", "akia asia", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("token", "eyj", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        ("token", "bearer", r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/-]{16,}=*"),
        ("password", "basic", r"(?i)(?<=\bbasic )(?=[A-Za-z+/]*[0-9=])[A-Za-z0-9+/]{16,}={0,2}(?![A-Za-z0-9+/])"),
    )
)
_NAME_HINTS: Final = ("key", "token", "secret", "pass", "credential", "dsn")
_NAMED: Final = re.compile(
    rf"""(?i)(?P<name>(?<![A-Za-z0-9_.-]){_NAMES}["']?\s*(?:=|:(?!:))\s*)(?P<value>{_QUOTED}|{_BARE})"""
)
_ENV: Final = re.compile(rf"""(?P<name>\b{_ENV_NAMES}=)(?P<value>{_QUOTED}|{_BARE})""")
_PLACEHOLDER: Final = re.compile(
    r"(?i)\[redacted:.*|[a-z_.]*(?:token|key|secret|password)s?|(?:os|process|env|settings|config|self|this)\..*"
    r"|x{3,}|\*{3,}|\.{3,}|<.*>|[$%].*|\.{0,2}/.*|(?:your|my|example|changeme|placeholder|dummy|test)[-_. ].*|changeme"
)
"""Values that stand for a secret: another name, code that reads one, a place-holder, a path."""

_PLAIN: Final = re.compile(r"(?i)[a-z]+(?:[._:-]+[a-z]+)*\.?")
"""Words without a digit, as prose and code have them after such a name."""

_FORGED: Final = re.compile(r"<(?=/?\s*midstream-handoff)", re.IGNORECASE)
"""The beginning of what would pose as the fence."""

PLACE: Final = "[redacted: {}]"
MARK: Final = re.compile(r"\[redacted: [A-Za-z ]+\]")
"""What stands where a secret stood."""


def redact(text: str, secrets: frozenset[str] = frozenset()) -> tuple[str, int]:
    """Return a text without secrets, and how many were taken out. `secrets` are values known to be some."""
    text, found = _without(text, secrets)
    lowered = text.casefold()
    for kind, hints, pattern in _RULES:
        # Most texts hold no secret, and a plain search is far cheaper than the rule.
        if any(hint in lowered for hint in hints):
            text, count = pattern.subn(PLACE.format(kind), text)
            found += count
    if any(hint in lowered for hint in _NAME_HINTS):
        for pattern in (_ENV, _NAMED):
            text, count = _redact_named(pattern, text)
            found += count
    return text, found


def _without(text: str, secrets: frozenset[str]) -> tuple[str, int]:
    found = 0
    for secret in sorted(filter(None, secrets), key=lambda value: (-len(value), value)):
        found += text.count(secret)
        text = text.replace(secret, PLACE.format("known secret"))
    return text, found


def _redact_named(pattern: re.Pattern[str], text: str) -> tuple[str, int]:
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        value = match["value"]
        plain = pattern is _NAMED and _PLAIN.fullmatch(value)
        if plain or _PLACEHOLDER.fullmatch(value.strip("\"'")):
            return match[0]
        count += 1
        quote = value[0] if value[0] in "\"'" else ""
        return f"{match['name']}{quote}{PLACE.format('value')}{quote}"

    return pattern.sub(replace, text), count


class Redactor:
    """Makes foreign text fit to be told: clean, and without secrets. `secrets` are values known to be some."""

    def __init__(self, secrets: frozenset[str] = frozenset()) -> None:
        self._secrets = secrets

    def text(self, text: str) -> str:
        """Return a text that may be told: no mark in it can be taken for one of ours either."""
        return _FORGED.sub("\u2039", redact(clean(text), self._secrets)[0])

    def values(self, text: str) -> str:
        """Return a text, already fit to be told, without values that were not known for secrets when it was made."""
        return _without(text, self._secrets)[0]

    def also(self, secrets: frozenset[str]) -> "Redactor":
        """Return one that knows more values."""
        return Redactor(self._secrets | secrets)

    @staticmethod
    def whole_lines(item: Item) -> Callable[[str, str], str]:
        """Return how to read a field of an item: of one that stands shortened, without the lines that the cut split.

        Half a secret has no shape any more, so nothing beside a cut is told.
        """
        cuts = {mark.field: mark.head_length for mark in item.shortened or ()}

        def read(field: str, text: str) -> str:
            place = cuts.get(field)
            if place is None:
                return text
            head, tail = text[:place], text[place:]
            end, start = _last_break(head), _first_break(tail)
            return f"{head[:end]}\n[\u2026]\n{tail[start:]}"

        return read


def _last_break(text: str) -> int:
    return max(text.rfind("\n"), 0) or max(text.rfind(" "), 0)


def _first_break(text: str) -> int:
    line, word = text.find("\n"), text.find(" ")
    return line + 1 if line >= 0 else word + 1 if word >= 0 else len(text)
