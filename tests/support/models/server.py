"""The model endpoint of the tests: it keeps every request that it got, and answers as the wire of its path wants."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from support.models import messages, responses
from support.models.http import HttpServer, Json, Request, Response, at_once

PATIENCE = 30.0


class ModelServer:
    """A model on the loopback interface, and what it was sent. Add a wire by its path in `_answer`.

    It never answers what `holds` is true of, has no quota for what `refuses` is true of, and has Claude try again
    what it is `overloaded` by.
    It waits for `between_pieces` before each piece of a text but the first.
    """

    def __init__(self) -> None:
        self.requests: list[Json] = []
        self.holds: Callable[[Json], bool] = lambda body: False
        self.refuses: Callable[[Json], bool] = lambda body: False
        self.overloaded: Callable[[Json], bool] = lambda body: False
        self.between_pieces: Callable[[], Awaitable[object]] = at_once
        self.url = ""
        self._news = asyncio.Condition()
        self._http = HttpServer(self._answer)

    async def start(self) -> None:
        """Listen."""
        self.url = f"http://127.0.0.1:{await self._http.start()}"

    async def stop(self) -> None:
        """Stop listening."""
        await self._http.stop()

    async def until(self, wanted: Callable[[Json], bool]) -> Json:
        """Wait for a request."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: any(wanted(body) for body in self.requests))
        return next(body for body in self.requests if wanted(body))

    async def _answer(self, request: Request, response: Response) -> None:
        response.between_pieces = self.between_pieces
        match request.method, request.path.split("?")[0]:
            case "POST", "/v1/responses":
                await self._keep(request.body)
                if self.refuses(request.body):
                    await response.json(429, {"error": {"type": "usage_limit_reached", "message": "used up"}})
                else:
                    await responses.answer(request.body, response)
            case "POST", "/v1/messages":
                await self._keep(request.body)
                if self.refuses(request.body):
                    error = {"type": "rate_limit_error", "message": "used up"}
                    await response.json(429, {"type": "error", "error": error}, {"x-should-retry": "false"})
                elif self.overloaded(request.body):
                    error = {"type": "overloaded_error", "message": "later"}
                    await response.json(529, {"type": "error", "error": error})
                else:
                    await messages.answer(request.body, response)
            case "POST", "/v1/messages/count_tokens":
                await response.json(200, {"input_tokens": messages.INPUT_TOKENS})
            case _:
                await response.json(404, {"error": {"message": f"nothing at {request.path}"}})

    async def _keep(self, body: Json) -> None:
        """Keep a request, and go on with it unless it is held."""
        async with self._news:
            self.requests.append(body)
            self._news.notify_all()
        if self.holds(body):
            await asyncio.get_running_loop().create_future()


@asynccontextmanager
async def model_server() -> AsyncIterator[ModelServer]:
    """A model that listens as long as the context lasts."""
    server = ModelServer()
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
