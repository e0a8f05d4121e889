"""What the demo prints: for a reader at a terminal, or one JSON object for each event."""

import json
import sys
from pathlib import Path
from typing import Final, Protocol

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

from midstream.protocol.converter import make_converter
from midstream.protocol.methods.table import NOTIFICATION_METHODS
from midstream.protocol.notifications import CheckpointCaptured, HandoffProgress, Notification, ThreadEvent
from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.item import AgentMessageItem, CommandItem, FileChangeItem, Item, UserMessageItem
from midstream.protocol.records.run import Run
from midstream.server.cli.demo_verdict import Evidence

CONVERTER: Final = make_converter()
COLOURS: Final = {"rehearsal": "cyan", "understudy": "magenta"}


class Report(Protocol):
    """Where the demo tells what happens."""

    def begin(self, workspace: Path) -> None:
        """Say where it plays."""

    def notification(self, notification: Notification) -> None:
        """Tell what the daemon said."""

    def handoff(self, handoff: ContextHandoff) -> None:
        """Show a handoff that a run consumed."""

    def question(self) -> None:
        """Say that the agents are asked now what they hold."""

    def verdict(self, evidence: Evidence, faults: list[str]) -> None:
        """Say whether it all held."""


class JsonReport:
    """One JSON object a line."""

    def begin(self, workspace: Path) -> None:
        """Say where it plays."""
        self._print("workspace", {"path": str(workspace)})

    def notification(self, notification: Notification) -> None:
        """Tell what the daemon said."""
        self._print(NOTIFICATION_METHODS[type(notification)], CONVERTER.unstructure(notification))

    def handoff(self, handoff: ContextHandoff) -> None:
        """Show a handoff that a run consumed."""
        self._print("handoff", CONVERTER.unstructure(handoff))

    def question(self) -> None:
        """Say that the agents are asked now what they hold."""
        self._print("question", {"message": "recall"})

    def verdict(self, evidence: Evidence, faults: list[str]) -> None:
        """Say whether it all held."""
        threads = CONVERTER.unstructure(evidence.read.provider_threads)
        self._print("verdict", {"holds": not faults, "faults": faults, "providerThreads": threads})

    def _print(self, event: str, body: object) -> None:
        sys.stdout.write(json.dumps({"event": event, "body": body}) + "\n")
        sys.stdout.flush()


class TerminalReport:
    """Text, with colour where the terminal has it."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._provider = ""
        self._asking = False

    def begin(self, workspace: Path) -> None:
        """Say where it plays."""
        self._console.print("[bold]One conversation, two agents.[/bold] No account, no network.")
        self._console.print(f"Workspace: {escape(str(workspace))}")

    def notification(self, notification: Notification) -> None:
        """Tell what the daemon said; what the agents recall goes into the verdict alone."""
        if self._asking:
            return
        match notification:
            case ThreadEvent(record=Run() as run) if run.status == "starting" and run.ordinal is not None:
                self._run(run)
            case ThreadEvent(record=Run(status="failed", failure=failure)) if failure is not None:
                self._console.print(f"  [red]failed: {escape(failure.message)}[/red]")
            case ThreadEvent(type="item", record=record):
                self._item(record)  # type: ignore[arg-type]
            case HandoffProgress(message=message, phase=phase) if phase in ("ready", "delivered"):
                self._console.print(f"  [yellow]{escape(message)}[/yellow]")
            case CheckpointCaptured(patch=patch) if patch:
                self._console.print(Syntax(patch, "diff", background_color="default"))
            case _:
                pass

    def _run(self, run: Run) -> None:
        if not run.attempts or run.attempts[-1].status != "pending" or run.provider_thread_id is not None:
            return
        if run.provider != self._provider and self._provider:
            self._console.rule(f"switch: {self._provider} → {run.provider}", style="yellow")
        if run.plan is not None and not run.baseline_checkpoint_id:
            self._provider = run.provider
            colour = COLOURS.get(run.provider, "white")
            self._console.print(f"\n[bold {colour}]Run {run.ordinal} · {run.provider}[/bold {colour}]")

    def _item(self, item: Item) -> None:
        match item:
            case UserMessageItem(text=text):
                self._console.print(_indented(f"> {text}"))
            case AgentMessageItem(status="completed", text=text):
                self._console.print(_indented(text))
            case CommandItem(status="completed" | "failed", command=command, exit_code=code):
                self._console.print(f"  [dim]$ {escape(command)}[/dim]  exit {code}")
            case FileChangeItem(status="completed", changes=changes):
                for change in changes:
                    self._console.print(f"  [dim]{change.kind} {escape(change.path)}[/dim]")
            case _:
                pass

    def handoff(self, handoff: ContextHandoff) -> None:
        """Show a handoff that a run consumed."""
        told = ", ".join(str(ordinal) for ordinal in handoff.run_ordinals)
        title = f"Handoff {handoff.strategy}: runs {told}; {handoff.tokens.estimated} tokens"
        self._console.print(Panel(escape(handoff.sent_text), title=title, border_style="yellow"))

    def question(self) -> None:
        """Say that the agents are asked now what they hold."""
        self._asking = True
        self._console.print("\nAsking both agents for all that their conversations hold ...")

    def verdict(self, evidence: Evidence, faults: list[str]) -> None:
        """Say whether it all held."""
        covers = {handoff.id: handoff.run_ordinals for handoff in evidence.handoffs}
        table = Table(title="Coverage: what each agent lived, and what it was told")
        for heading in ("agent", "lived runs", "was told runs", "native conversation"):
            table.add_column(heading)
        for known in evidence.read.provider_threads:
            told = "; ".join(_numbers(covers.get(handoff_id, ())) for handoff_id in known.handoff_ids)
            table.add_row(known.provider, _numbers(known.native_run_ordinals), told, known.native_ref or "")
        self._console.print(table)
        for fault in faults:
            self._console.print(f"[red]Does not hold: {escape(fault)}[/red]")
        if not faults:
            self._console.print("[green]It holds: each agent recalled exactly its own runs and its handoff.[/green]")


def _indented(text: str) -> str:
    return escape("\n".join(f"  {line}" for line in text.splitlines()))


def _numbers(ordinals: tuple[int, ...]) -> str:
    return ", ".join(str(ordinal) for ordinal in ordinals)
