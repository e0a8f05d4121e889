"""How things stand: the plan, what waits for the user, and the workspace."""

from collections.abc import Iterator
from typing import Final

from midstream.protocol.records.item import ApprovalItem, PlanItem, QuestionItem
from midstream.server.handoff.entries import Entry, quoted
from midstream.server.handoff.material import Material
from midstream.server.handoff.naming import in_run
from midstream.server.handoff.text import one_line

_MARKS: Final = {"completed": "[x]", "running": "[~]", "pending": "[ ]"}


def plan(material: Material) -> Iterator[Entry]:
    """The latest plan and the latest todo list, each with its states; earlier ones are superseded."""
    plans = [item for item in material.told if isinstance(item, PlanItem) and item.parent_item_id is None]
    if plans:
        latest = plans[-1]
        label = f"Plan proposed in {in_run(material.ordinal(latest))}:"
        yield Entry(
            text=quoted(label, latest.markdown.split("\n")),
            run_ordinal=material.ordinal(latest),
            item_ids=tuple(item.id for item in plans),
        )
    todo = material.todo
    if todo is not None and todo.id not in material.covered_items and todo.steps:
        ordinal = material.ordinal(todo)
        steps = (f"{_MARKS[step.status]} {one_line(step.text)}" for step in todo.steps)
        label = f"Todo list of {in_run(ordinal)} ([x] done, [~] begun, [ ] open; confirm before going on):"
        yield Entry(text=quoted(label, steps), run_ordinal=ordinal, item_ids=(todo.id,))


def open_questions(material: Material) -> Iterator[Entry]:
    """What was asked of the user and never answered."""
    waiting = set()
    for request in material.open_requests:
        waiting.add(request.id)
        asked = (one_line(question.text) for question in request.questions or ())
        text = quoted(f"Waits for the user: {one_line(request.prompt)}", asked)
        yield Entry(text=text, item_ids=(request.item_id,))
    for item in material.told:
        match item:
            case ApprovalItem(decision=None) if item.request_id not in waiting:
                text = f"Never answered: {one_line(item.prompt)}"
            case QuestionItem(answers=None) if item.request_id not in waiting:
                text = quoted("Never answered:", (one_line(question.text) for question in item.questions))
            case _:
                continue
        yield Entry(text=text, run_ordinal=material.ordinal(item), item_ids=(item.id,))


def workspace(material: Material) -> Iterator[Entry]:
    """Where the workspace is, which checkpoint holds it, and what changed up to it."""
    if material.workspace_moved:
        yield Entry(text=f"The workspace moved and is now {one_line(material.thread.workspace)}; check older paths.")
    checkpoint = material.checkpoint
    if checkpoint is None:
        return
    additions = sum(file.additions or 0 for file in material.diff)
    deletions = sum(file.deletions or 0 for file in material.diff)
    shared = "; another thread's run overlapped" if checkpoint.mixed else ""
    after = f" of {in_run(checkpoint.run_ordinal)}" if checkpoint.run_ordinal is not None else ""
    yield Entry(
        text=f"Checkpoint {checkpoint.id}{after}, {checkpoint.captured_at}: "
        f"{len(material.diff)} file(s) changed, +{additions} -{deletions}{shared}",
        run_ordinal=checkpoint.run_ordinal,
    )
