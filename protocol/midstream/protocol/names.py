"""The names of fields on the wire."""


def camel(name: str) -> str:
    """Return the wire name of a field: `from_` is `from`, `run_id` is `runId`."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)
