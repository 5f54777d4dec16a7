"""Export and service measured: ONNX Runtime beside torch, and a service under load.

    python benchmarks/service.py

The service runs in a process of its own on this machine; 200 clients keep a connection each and ask
one question after another. Every answer is compared with the run's own. Writes service.json.
"""

import asyncio
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from sklearn.datasets import load_breast_cancer

import chainrule as cr
from chainrule.runs.export import export
from chainrule.runs.export.onnx import open_session
from chainrule.runs.run import Run

CLIENTS, QUESTIONS, ROUNDS = 200, 10_000, 200


def table_run(folder: Path) -> tuple[Run, list[dict[str, float]]]:
    """A network for the breast cancer data, and rows to ask about."""
    found = load_breast_cancer(as_frame=True)
    names = found.target.map({0: "malignant", 1: "benign"})
    found.data.assign(diagnosis=names).to_csv(folder / "patients.csv", index=False)
    run = cr.train(
        "mlp",
        table=str(folder / "patients.csv"),
        target="diagnosis",
        epochs=30,
        out=folder / "patients",
        pictures=False,
        progress=False,
    )
    return run, found.data.to_dict("records")


def latencies(run: Run, name: str) -> list[dict[str, Any]]:
    """Median time of a forward pass at batch 1 and 256, both programs in turns."""
    written = export(run, "onnx")
    session, rows = open_session(run.folder / "export/onnx/model.onnx"), []
    for size in (1, 256):
        x = torch.rand(size, *run.summary.shape)
        times: dict[str, list[float]] = {"torch": [], "onnx": []}
        programs: dict[str, Callable[[], Any]] = {
            "torch": lambda x=x: run.model(x),  # type: ignore[misc]
            "onnx": lambda x=x: session.run(None, {"input": x.numpy()}),  # type: ignore[misc]
        }
        with torch.inference_mode():
            for turn in range(ROUNDS + 20):
                for program, call in programs.items():
                    start = time.perf_counter()
                    call()
                    if turn >= 20:
                        times[program].append(time.perf_counter() - start)
        medians = {key: 1e6 * statistics.median(value) for key, value in times.items()}
        rows.append({"network": name, "batch": size, "difference": written.difference, **medians})
    return rows


async def client(
    port: int, questions: list[tuple[bytes, float]], times: list[float], wrong: list[str]
) -> None:
    """Ask one question after another on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for body, expected in questions:
        start = time.perf_counter()
        head = (
            f"POST /predict HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", answer)[1])  # type: ignore[index]
        found = json.loads(await reader.readexactly(length))
        times.append(time.perf_counter() - start)
        if " 200 " not in answer.split(b"\r\n")[0].decode():
            wrong.append(str(found))
        elif abs(found["predictions"][0]["probabilities"]["malignant"] - expected) > 1e-5:
            wrong.append(f"{found} instead of {expected}")
    writer.close()


def load(run: Run, records: list[dict[str, float]]) -> dict[str, Any]:
    """Latencies and wrong answers under load, for 1 and for 200 clients."""
    frame = {name: [row[name] for row in records] for name in records[0]}
    expected = [answer["probabilities"]["malignant"] for answer in run.predict(frame)]
    bodies = [json.dumps({"rows": [row]}).encode() for row in records]
    command = [sys.executable, "-m", "chainrule", "serve", str(run.folder)]
    found: dict[str, Any] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        port = int(re.search(r":(\d+)", service.stdout.readline().split("//")[1])[1])  # type: ignore[index]
        for clients, questions in ((1, 500), (CLIENTS, QUESTIONS)):
            times: list[float] = []
            wrong: list[str] = []
            asked = [
                [
                    (bodies[k % len(bodies)], expected[k % len(bodies)])
                    for k in range(first, questions, clients)
                ]
                for first in range(clients)
            ]

            async def everybody(asked=asked, times=times, wrong=wrong) -> None:  # type: ignore[no-untyped-def]
                await asyncio.gather(*(client(port, each, times, wrong) for each in asked))

            start = time.perf_counter()
            asyncio.run(everybody())
            took = time.perf_counter() - start
            cuts = statistics.quantiles(times, n=100)
            found[f"{clients} client{'s' * (clients > 1)}"] = {
                "questions": questions,
                "answers": len(times),
                "wrong": len(wrong),
                "per second": questions / took,
                "median ms": 1e3 * cuts[49],
                "95 % ms": 1e3 * cuts[94],
                "99 % ms": 1e3 * cuts[98],
            }
        service.terminate()
    return found


def main() -> None:
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run, records = table_run(folder)
        digits = cr.train("digits-mlp", out=folder / "digits", pictures=False, progress=False)
        rows = latencies(run, "table, 30-64-64-2") + latencies(digits, "digits, 64-128-10")
        record = {
            "command": "python benchmarks/service.py",
            "date": datetime.now(UTC).date().isoformat(),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "latency": rows,
            "load": load(run, records),
        }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(path.read_text("utf-8"))


if __name__ == "__main__":
    main()
