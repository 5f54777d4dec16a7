"""HTTP/1.1 of the server library, with an end to the patience for a request that does not come."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

SLOWEST = 30.0  # seconds until the first line and the headers of a request are there


class PatientProtocol(H11Protocol):
    """Closes a connection whose headers do not arrive in time, however slowly they drip."""

    alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.wait_for_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self.wait_for_headers()
        else:
            self.stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_waiting()
        super().connection_lost(exc)

    def wait_for_headers(self) -> None:
        if self.alarm is None:
            self.alarm = asyncio.get_running_loop().call_later(SLOWEST, self.transport.close)

    def stop_waiting(self) -> None:
        if self.alarm is not None:
            self.alarm.cancel()
            self.alarm = None
