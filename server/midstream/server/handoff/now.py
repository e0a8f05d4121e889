"""How things stand: the plan, what waits for the user, and the workspace."""

from collections.abc import Iterator
from typing import Final

from midstream.server.handoff.entries import Entry
from midstream.server.handoff.material import Material
from midstream.server.handoff.naming import cite, in_run
from midstream.server.handoff.pieces import cut
from midstream.server.handoff.redact import Redactor
from midstream.server.handoff.text import one_line
from midstream.server.handoff.words import told

PLANNED: Final = 0.8
TO_DO: Final = 2.0
OPEN: Final = 3.0


def plan(material: Material) -> Iterator[Entry]:
    """The latest plan and the latest todo list, each with its states; earlier ones are superseded."""
    latest = {fact.key: (item, fact) for item, fact in told(material, "plan")}
    ids = {key: tuple(item.id for item, fact in told(material, "plan") if fact.key == key) for key in latest}
    heads = {"plan": "plan proposed:", "todo": "todo list ([x] done, [~] begun, [ ] open; confirm before going on):"}
    for key in ("plan", "todo"):
        if key in latest and latest[key][1].pieces:
            item, fact = latest[key]
            ordinal = material.ordinal(item)
            yield Entry(
                head=f"{cite([ordinal])} {heads[key]}".lstrip(),
                pieces=fact.pieces,
                run_ordinal=ordinal,
                item_ids=ids[key],
                weight=TO_DO if key == "todo" else PLANNED,
            )


def open_questions(material: Material) -> Iterator[Entry]:
    """What was asked of the user and never answered."""
    safe = Redactor().text
    waiting = set()
    for request in material.open_requests:
        waiting.add(request.id)
        asked = "\n".join(one_line(safe(question.text)) for question in request.questions or ())
        head = f"Waits for the user: {one_line(safe(request.prompt))}"
        yield Entry(head=head, pieces=cut(asked), item_ids=(request.item_id,), weight=OPEN)
    for item, fact in told(material, "open"):
        if fact.key not in waiting:
            ordinal = material.ordinal(item)
            yield Entry(
                head=f"{cite([ordinal])} {fact.head}".lstrip(),
                pieces=fact.pieces,
                run_ordinal=ordinal,
                item_ids=(item.id,),
                weight=OPEN,
            )


def workspace(material: Material) -> Iterator[Entry]:
    """Where the workspace is, which checkpoint holds it, and what changed up to it."""
    if material.workspace_moved:
        yield Entry(head=f"The workspace moved and is now {one_line(material.thread.workspace)}; check older paths.")
    checkpoint = material.checkpoint
    if checkpoint is None:
        return
    additions = sum(file.additions or 0 for file in material.diff)
    deletions = sum(file.deletions or 0 for file in material.diff)
    shared = "; another thread's run overlapped" if checkpoint.mixed else ""
    after = f" of {in_run(checkpoint.run_ordinal)}" if checkpoint.run_ordinal is not None else ""
    yield Entry(
        head=f"Checkpoint {checkpoint.id}{after}, {checkpoint.captured_at}: "
        f"{len(material.diff)} file(s) changed, +{additions} -{deletions}{shared}",
        run_ordinal=checkpoint.run_ordinal,
    )
