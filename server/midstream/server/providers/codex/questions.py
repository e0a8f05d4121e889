"""Questions of Codex and of MCP servers as ours, and the user's answers in their shape; pure."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from midstream.protocol.base import JsonObject
from midstream.protocol.records.request import Answer, Question, QuestionOption
from midstream.server.providers.reading import member, members, text_of

Content: TypeAlias = str | bool | float | list[str]


def asked_questions(params: JsonObject) -> tuple[Question, ...]:
    """Read the questions of ``item/tool/requestUserInput``."""
    return tuple(_asked(params))


def _asked(params: JsonObject) -> Iterator[Question]:
    for question in members(params, "questions"):
        options = tuple(
            QuestionOption(label=label, description=text_of(option, "description"))
            for option in members(question, "options")
            if (label := text_of(option, "label")) is not None
        )
        yield Question(
            id=text_of(question, "id") or "",
            header=text_of(question, "header"),
            text=text_of(question, "question") or "",
            options=options,
            multiple=False,
            free_text=question.get("isOther") is True or not options,
        )


def given_answers(answers: Sequence[Answer]) -> JsonObject:
    """Return the user's answers as Codex takes them."""
    return {one.question_id: {"answers": list(one.values)} for one in answers}


def schema_questions(params: JsonObject) -> tuple[Question, ...] | None:
    """Return a question for each property that an MCP server asks for, None where it asks for none."""
    return tuple(_schema_question(name, shape) for name, shape in _properties(params)) or None


def _schema_question(name: str, shape: JsonObject) -> Question:
    labels = _labels(shape)
    return Question(
        id=name,
        header=text_of(shape, "title"),
        text=text_of(shape, "description", "title") or name,
        options=tuple(QuestionOption(label=label) for label in labels),
        multiple=shape.get("type") == "array",
        free_text=not labels,
    )


def _labels(shape: JsonObject) -> tuple[str, ...]:
    if shape.get("type") == "boolean":
        return ("true", "false")
    choices = shape.get("enum") or member(shape, "items").get("enum")
    return tuple(one for one in choices if isinstance(one, str)) if isinstance(choices, list) else ()


def schema_content(params: JsonObject, answers: Sequence[Answer]) -> JsonObject:
    """Return the user's answers as the content that the server's schema wants."""
    shapes = dict(_properties(params))
    return {
        one.question_id: _value(shapes[one.question_id], one.values) for one in answers if one.question_id in shapes
    }


def _value(shape: JsonObject, values: Sequence[str]) -> Content:
    words = ", ".join(values)
    match shape.get("type"):
        case "array":
            return list(values)
        case "boolean":
            return words == "true"
        case "number" | "integer":
            try:
                return int(words) if words.lstrip("-").isdigit() else float(words)
            except ValueError:
                return words
        case _:
            return words


def _properties(params: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for name, shape in member(member(params, "requestedSchema"), "properties").items():
        if isinstance(shape, dict):
            yield name, shape
