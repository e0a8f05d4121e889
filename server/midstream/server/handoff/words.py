"""What was said: the user's requests and constraints, decisions, and the agents' messages."""

import re
from collections.abc import Iterator
from typing import Final

from midstream.protocol.records.item import AgentMessageItem, ApprovalItem, PlanItem, QuestionItem, UserMessageItem
from midstream.protocol.records.run import (
    DiagnosticsAttachment,
    FileAttachment,
    SelectionAttachment,
    StoredAttachment,
    StoredImage,
)
from midstream.server.handoff.constraints import constraints
from midstream.server.handoff.entries import Entry, quoted
from midstream.server.handoff.material import Material
from midstream.server.handoff.naming import in_run
from midstream.server.handoff.text import one_line

_DECISION: Final = re.compile(r"^\W*(?:decision|decided)\b\W*[:\u2014-]\s*(?P<what>\S.*)$", re.IGNORECASE)
_BECAUSE: Final = re.compile(
    r"\b(?:decided|chose|opted|settled|went|going)\s(?:to|for|on|with|against)?\b.*\b(?:because|since|so\sthat|as)\b",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")


def requests(material: Material) -> Iterator[Entry]:
    """The user's messages of the runs told of; the first and the last are never left out."""
    messages = [item for item in material.told if isinstance(item, UserMessageItem)]
    for message in messages:
        run = material.run_of(message)
        fate = "not delivered then" if message.status == "cancelled" else run.status if run else message.status
        label = f"{in_run(material.ordinal(message)).capitalize()} ({fate}), the user said:"
        yield Entry(
            text=quoted(label, (*message.text.split("\n"), *map(describe, message.attachments))),
            run_ordinal=material.ordinal(message),
            item_ids=(message.id,),
            pinned=message is messages[0] or message is messages[-1],
        )


def standing(material: Material) -> Iterator[Entry]:
    """The user's constraints, those that the target knows of already marked as repeated."""
    said: set[str] = set()
    for message in material.standing:
        known = message.id not in material.new
        for constraint in constraints(message):
            if constraint.casefold() not in said:
                said.add(constraint.casefold())
                yield Entry(
                    text=f"{constraint} (repeated)" if known else constraint,
                    run_ordinal=material.ordinal(message),
                    item_ids=(message.id,),
                    pinned=True,
                    whole=True,
                )


def decisions(material: Material) -> Iterator[Entry]:
    """What was decided: marked lines and sentences with a because, the user's answers, what the user declined."""
    last: dict[str, Entry] = {}
    for item in material.told:
        match item:
            case UserMessageItem(text=text) | AgentMessageItem(text=text) | PlanItem(markdown=text):
                found = [] if item.parent_item_id else list(_decided(text))
            case QuestionItem(answers=answers) if answers:
                texts = {question.id: question.text for question in item.questions}
                found = [
                    f"The user answered \u201c{one_line(texts.get(answer.question_id, ''))}\u201d with: "
                    f"{one_line(', '.join(answer.values))}"
                    for answer in answers
                ]
            case ApprovalItem(decision="decline" | "cancel"):
                found = [f"The user declined: {one_line(item.prompt)}"]
            case _:
                continue
        for text in found:
            last.pop(text.casefold(), None)
            ordinal = material.ordinal(item)
            last[text.casefold()] = Entry(text=f"{text} ({in_run(ordinal)})", run_ordinal=ordinal, item_ids=(item.id,))
    yield from last.values()


def _decided(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        marked = _DECISION.match(line)
        if marked:
            yield marked["what"].strip()
            continue
        for sentence in _SENTENCE_END.split(line.strip()):
            if _BECAUSE.search(sentence):
                yield sentence


def conversation(material: Material) -> Iterator[Entry]:
    """The agents' messages; those of subagents stand in their results."""
    for item in material.told:
        if isinstance(item, AgentMessageItem) and item.parent_item_id is None and item.text.strip():
            broken = "" if item.status == "completed" else f", {item.status}"
            ordinal = material.ordinal(item)
            label = f"{in_run(ordinal).capitalize()}, {material.speaker(item)}{broken}:"
            yield Entry(text=quoted(label, item.text.split("\n")), run_ordinal=ordinal, item_ids=(item.id,))


def describe(attachment: StoredAttachment) -> str:
    """Return an attachment in words; an image's bytes never cross providers."""
    match attachment:
        case FileAttachment():
            return f"[file {attachment.uri}{_lines(attachment)}]"
        case SelectionAttachment():
            return f"[selection of {attachment.uri}{_lines(attachment)}]\n{attachment.text}"
        case DiagnosticsAttachment():
            messages = "; ".join(one_line(str(item.get("message", ""))) for item in attachment.items)
            return f"[{len(attachment.items)} diagnostics of {attachment.uri}: {messages}]"
        case StoredImage():
            place = f" at {attachment.uri}" if attachment.uri else ""
            return f"[image, {attachment.mime_type}, {attachment.bytes} bytes, sha256 {attachment.sha256}{place}]"


def _lines(attachment: FileAttachment | SelectionAttachment) -> str:
    if attachment.range is None:
        return ""
    return f", lines {attachment.range.start.line + 1}-{attachment.range.end.line + 1}"
