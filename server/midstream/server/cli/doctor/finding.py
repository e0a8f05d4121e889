"""What the doctor says of one thing."""

from typing import Literal, TypeAlias

from attrs import frozen

Severity: TypeAlias = Literal["ok", "warning", "error"]
"""An `error` is something wrong with what Midstream owns; a `warning` is worth knowing, and nothing is lost."""


@frozen(kw_only=True)
class Finding:
    """One thing that was looked at; `action` says what to do where it is not well."""

    severity: Severity
    subject: str
    message: str
    action: str | None = None


def ok(subject: str, message: str) -> Finding:
    """Return that something is well."""
    return Finding(severity="ok", subject=subject, message=message)


def warning(subject: str, message: str, action: str) -> Finding:
    """Return that something is worth knowing."""
    return Finding(severity="warning", subject=subject, message=message, action=action)


def error(subject: str, message: str, action: str) -> Finding:
    """Return that something is wrong."""
    return Finding(severity="error", subject=subject, message=message, action=action)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
