"""Tokens as Codex counts them, over a whole conversation, and as a turn's usage; pure."""

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.records.run import Usage
from midstream.server.providers.reading import count_of, member


@frozen(kw_only=True)
class Tokens:
    """Tokens of one or more requests; `total` is what they had in the model's window."""

    input: int
    output: int
    cached: int
    total: int


@frozen(kw_only=True)
class TokenCount:
    """The tokens since the conversation began, those of the last request, and the size of the model's window."""

    whole: Tokens
    last: Tokens
    window: int | None


def parse_tokens(params: JsonObject) -> TokenCount:
    """Read ``thread/tokenUsage/updated``."""
    usage = member(params, "tokenUsage")
    return TokenCount(
        whole=_tokens(member(usage, "total")),
        last=_tokens(member(usage, "last")),
        window=count_of(usage, "modelContextWindow"),
    )


def _tokens(counted: JsonObject) -> Tokens:
    return Tokens(
        input=count_of(counted, "inputTokens") or 0,
        output=count_of(counted, "outputTokens") or 0,
        cached=count_of(counted, "cachedInputTokens") or 0,
        total=count_of(counted, "totalTokens") or 0,
    )


def before_first(counted: TokenCount) -> Tokens:
    """Return what a conversation had used before its last request: the first one of a turn."""
    whole, last = counted.whole, counted.last
    return Tokens(
        input=whole.input - last.input,
        output=whole.output - last.output,
        cached=whole.cached - last.cached,
        total=whole.total - last.total,
    )


def usage_since(before: Tokens, counted: TokenCount) -> Usage:
    """Return the usage of a turn that began when `before` was used."""
    return Usage(
        input_tokens=max(0, counted.whole.input - before.input),
        output_tokens=max(0, counted.whole.output - before.output),
        cached_input_tokens=max(0, counted.whole.cached - before.cached),
        context_tokens=counted.last.total,
        context_window=counted.window,
    )
