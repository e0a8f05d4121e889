"""Tokens and cost as Claude Code tells them, as a turn's usage; pure."""

from attrs import define
from claude_agent_sdk import ResultMessage

from midstream.protocol.base import JsonObject
from midstream.protocol.records.run import Usage
from midstream.server.providers.reading import count_of, member

_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


@define
class Spent:
    """What one process told so far: the cost of all its turns in US dollars, and the tokens of its last request."""

    cost: float = 0.0
    context: int | None = None

    def hear(self, event: JsonObject) -> None:
        """Take in an event of the model's stream."""
        if event.get("type") == "message_start":
            usage = member(member(event, "message"), "usage")
            self.context = sum(count_of(usage, name) or 0 for name in _INPUT)

    def usage(self, result: ResultMessage, before: Usage | None) -> Usage:
        """Return the usage of a turn with one more result; `before` is that of its earlier ones."""
        told: JsonObject = result.usage or {}
        cost = max(0.0, (result.total_cost_usd or 0.0) - self.cost)
        self.cost += cost
        windows = [count_of(one, "contextWindow") for one in (result.model_usage or {}).values()]
        return Usage(
            input_tokens=sum(count_of(told, name) or 0 for name in _INPUT) + (before.input_tokens if before else 0),
            output_tokens=(count_of(told, "output_tokens") or 0) + (before.output_tokens if before else 0),
            cached_input_tokens=(count_of(told, "cache_read_input_tokens") or 0)
            + ((before.cached_input_tokens or 0) if before else 0),
            context_tokens=self.context,
            context_window=max((window for window in windows if window), default=None),
            cost_usd=cost + ((before.cost_usd or 0.0) if before else 0.0),
        )
