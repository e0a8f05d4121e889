"""What agents ask of the user, and what the user answers."""

from typing import Literal

import attrs

from midstream.protocol.base import RunId
from midstream.protocol.errors import InvalidParams, MidstreamError
from midstream.protocol.records.item import ApprovalItem, ItemStatus, QuestionItem
from midstream.protocol.records.request import Decision, RequestOption, RuntimeRequest
from midstream.server.graph.changes import Changes
from midstream.server.graph.commands import ExpireRequests, ObservedRequest, RespondRequest
from midstream.server.graph.effects import AnswerRequest, InterruptTurn
from midstream.server.graph.events import RequestPut
from midstream.server.graph.items import put_item
from midstream.server.graph.threads import put_thread


def open_request(changes: Changes, observed: ObservedRequest, run_id: RunId) -> None:
    """Put a question to the user: its run waits."""
    put_item(changes, observed.item, run_id)
    changes.put(RequestPut(attrs.evolve(observed.request, created_at=changes.now)))
    changes.put_run(attrs.evolve(changes.state.runs[run_id], status="waiting"))


def respond(changes: Changes, command: RespondRequest) -> RuntimeRequest:
    """Answer a pending request, once."""
    request = changes.request(command.request_id)
    if request.status in ("expired", "cancelled"):
        raise MidstreamError(
            "requestNotResumable",
            f"Request {request.id} is {request.status}: the agent no longer waits for it. Retry the run.",
            requestId=request.id,
            status=request.status,
        )
    if request.status != "pending":
        raise MidstreamError(
            "invalidState",
            f"Request {request.id} was answered already.",
            requestId=request.id,
            status=request.status,
            request=request,
        )
    option = _choose(request, command)
    _check_answers(request, command)
    decision: Decision = option.decision if option else command.decision or "accept"
    resolved = attrs.evolve(
        request,
        status="resolved",
        decision=decision,
        message=command.message,
        answers=command.answers,
        resolved_at=changes.now,
    )
    changes.put(RequestPut(resolved))
    _close_item_of(changes, resolved)
    _go_on(changes, request.run_id)
    changes.effects.append(
        AnswerRequest(run_id=request.run_id, request_id=request.id, option_id=option.option_id if option else None)
    )
    return resolved


def _choose(request: RuntimeRequest, command: RespondRequest) -> RequestOption | None:
    if command.option_id is not None:
        for option in request.options:
            if option.option_id == command.option_id:
                return option
        raise InvalidParams(f"request {request.id} offers no option {command.option_id}", "optionId")
    if command.decision is None:
        if command.answers is None:
            raise InvalidParams("one of optionId, decision and answers is required", "decision")
        return None
    fitting = [option for option in request.options if option.decision == command.decision]
    if len(fitting) > 1:
        raise InvalidParams(f"several options mean {command.decision}; name one by optionId", "optionId")
    if not fitting and command.decision in ("accept", "acceptForSession") and request.options:
        raise InvalidParams(f"request {request.id} offers no way to {command.decision}", "decision")
    return fitting[0] if fitting else None


def _check_answers(request: RuntimeRequest, command: RespondRequest) -> None:
    asked = {question.id for question in request.questions or ()}
    for place, answer in enumerate(command.answers or ()):
        if answer.question_id not in asked:
            message = f"request {request.id} asks no question {answer.question_id}"
            raise InvalidParams(message, f"answers[{place}].questionId")


def expire(changes: Changes, command: ExpireRequests) -> None:
    """Give up on a run that waits while nobody is there to answer."""
    run = changes.state.runs.get(command.run_id)
    if run is None or run.status != "waiting":
        return
    close_requests(changes, run.id, "expired")
    changes.put_run(attrs.evolve(changes.state.runs[run.id], interrupt_requested_at=changes.now))
    if changes.state.queue:
        put_thread(changes, attrs.evolve(changes.state.thread, queue_held=True))
    changes.effects.append(InterruptTurn(run_id=run.id, attempt=run.attempts[-1].ordinal))


def withdraw(changes: Changes, request_id: str) -> None:
    """Close a request that the provider no longer waits for."""
    request = changes.state.requests.get(request_id)
    if request is not None and request.status == "pending":
        _close(changes, request, "cancelled")
        _go_on(changes, request.run_id)


def close_requests(changes: Changes, run_id: RunId, status: Literal["expired", "cancelled"]) -> None:
    """Close all that a run still asks."""
    for request in changes.state.pending_requests:
        if request.run_id == run_id:
            _close(changes, request, status)
    _go_on(changes, run_id)


def _close(changes: Changes, request: RuntimeRequest, status: Literal["expired", "cancelled"]) -> None:
    closed = attrs.evolve(request, status=status, resolved_at=changes.now)
    changes.put(RequestPut(closed))
    _close_item_of(changes, closed)


def _close_item_of(changes: Changes, request: RuntimeRequest) -> None:
    status: ItemStatus = "completed" if request.status == "resolved" else "cancelled"
    match changes.state.live_items.get(request.item_id):
        case ApprovalItem() as item:
            put_item(changes, attrs.evolve(item, status=status, decision=request.decision), item.run_id)
        case QuestionItem() as item:
            put_item(changes, attrs.evolve(item, status=status, answers=request.answers), item.run_id)
        case _:
            pass
    _let_go_on(changes, request)


def _let_go_on(changes: Changes, request: RuntimeRequest) -> None:
    """Show that what was asked about waits no more: agents seldom say so, and a command may run for long."""
    about = changes.state.live_items.get(request.target_item_id or "")
    asked = {pending.target_item_id for pending in changes.state.pending_requests}
    if about is not None and about.status == "waiting" and about.id not in asked:
        put_item(changes, attrs.evolve(about, status="running"), about.run_id)


def _go_on(changes: Changes, run_id: RunId) -> None:
    run = changes.state.runs[run_id]
    if run.status == "waiting" and not changes.state.pending_requests:
        changes.put_run(attrs.evolve(run, status="running"))
