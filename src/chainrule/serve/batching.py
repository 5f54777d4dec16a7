"""Micro-batching: examples of requests that wait together go through the network together."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from chainrule.serve.inputs import MOST_TOGETHER

Json = dict[str, Any]
Answer = Callable[[list[Any]], list[list[Json]]]
MOST_WAITING = 1_000  # requests


class BusyError(Exception):
    """More requests wait than the service can hold."""


@dataclass
class Waiting:
    """A request in the queue."""

    examples: Any
    size: int
    done: asyncio.Future[list[Json]]


class Batcher:
    """Answers requests in batches, one batch after another in a thread of its own.

    While a batch is computed, further requests queue up and form the next one, so that nobody waits
    for company and a busy service has large batches.

    Args:
        answer: (examples of each request) ↦ answers of each request.
        observe: called with the number of examples of every batch.
        most: examples in a batch, unless a single request has more.
    """

    def __init__(self, answer: Answer, observe: Callable[[int], None], most: int = MOST_TOGETHER):
        self.answer, self.observe, self.most = answer, observe, most
        self.queue: asyncio.Queue[Waiting] = asyncio.Queue(MOST_WAITING)
        self.thread = ThreadPoolExecutor(1, "predict")

    async def ask(self, examples: Any, size: int) -> list[Json]:
        """The answers for the examples of one request."""
        waiting = Waiting(examples, size, asyncio.get_running_loop().create_future())
        try:
            self.queue.put_nowait(waiting)
        except asyncio.QueueFull:
            raise BusyError from None
        return await waiting.done

    async def work(self) -> None:
        """Answer batch after batch, for ever."""
        while True:
            await self.answer_batch(await self.next_batch())

    async def next_batch(self) -> list[Waiting]:
        """The requests at the head of the queue, at least one."""
        batch = [await self.queue.get()]
        size = batch[0].size
        while size < self.most and not self.queue.empty():
            batch.append(self.queue.get_nowait())
            size += batch[-1].size
        return [waiting for waiting in batch if not waiting.done.cancelled()]

    async def answer_batch(self, batch: Sequence[Waiting]) -> None:
        """One forward pass; if it fails, each request is tried alone, so that one spoils none."""
        if not batch:
            return
        loop = asyncio.get_running_loop()
        try:
            self.observe(sum(waiting.size for waiting in batch))
            found = await loop.run_in_executor(
                self.thread, self.answer, [waiting.examples for waiting in batch]
            )
        except Exception as error:
            if len(batch) == 1:
                settle(batch[0], error)
            else:
                for waiting in batch:
                    await self.answer_batch([waiting])
            return
        for waiting, answers in zip(batch, found, strict=True):
            settle(waiting, answers)

    def close(self) -> None:
        self.thread.shutdown(cancel_futures=True)


def settle(waiting: Waiting, result: list[Json] | Exception) -> None:
    """Hand over the answers or the error, unless the request was given up."""
    if waiting.done.done():
        return
    if isinstance(result, Exception):
        waiting.done.set_exception(result)
    else:
        waiting.done.set_result(result)
