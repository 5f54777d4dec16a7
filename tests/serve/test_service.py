"""The prediction service: right answers, alone and under load, and a sentence for the rest."""

import asyncio
import base64
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")

from PIL import Image
from starlette.testclient import TestClient

from chainrule.runs.predict import masks
from chainrule.runs.run import Run
from chainrule.serve import batching, inputs
from chainrule.serve.app import application
from chainrule.serve.batching import Batcher, BusyError
from chainrule.serve.choice import inputs_of
from chainrule.serve.guard import LARGEST_BODY

HOST = "127.0.0.1:8500"
OWN = {"host": HOST}
ROW = {"age": 30, "city": "Oslo"}


@pytest.fixture
def client(table_run: Run) -> Iterator[TestClient]:
    with TestClient(application(table_run, [HOST]), base_url=f"http://{HOST}") as found:
        yield found


def ask(client: TestClient, body: Any, **headers: str) -> Any:
    return client.post("/predict", json=body, headers=headers)


def test_answers_are_those_of_the_run(client: TestClient, table_run: Run) -> None:
    rows = [{"age": age, "city": city} for age in (25, 40, 70) for city in ("Oslo", "Rome", None)]
    found = ask(client, {"rows": rows})
    assert found.status_code == 200
    columns = {name: [row[name] for row in rows] for name in ROW}
    columns["city"] = [city or "" for city in columns["city"]]  # type: ignore[misc]
    expected = table_run.predict(columns)
    for mine, theirs in zip(found.json()["predictions"], expected, strict=True):
        assert mine["prediction"] == theirs["prediction"]
        assert mine["probability"] == pytest.approx(theirs["probability"], abs=1e-6)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"rows": []}, 422, 'expected an object {"rows": […]}'),
        ({"row": [ROW]}, 422, 'expected an object {"rows": […]}'),
        ({"rows": [ROW], "more": 1}, 422, "expected an object"),
        ([ROW], 422, "got a list with 1 values"),
        ({"rows": [{"age": 30}]}, 422, "row 1 has no 'city'; expected the columns age, city"),
        ({"rows": [ROW, 3]}, 422, "row 2: expected an object of columns, got 3"),
        ({"rows": [{"age": [1], "city": "Oslo"}]}, 422, "row 1, 'age': expected a number"),
        ({"rows": [{"age": "old", "city": "Oslo"}]}, 422, "column 'age'"),
        (
            {"rows": [ROW, {"age": "old"}, {"city": "Oslo"}, 3]},
            422,
            "4 faults: row 2 has no 'city'; expected the columns age, city, with null for a "
            "missing value; row 3 has no 'age'; expected the columns age, city, with null for a "
            "missing value; row 4: expected an object of columns, got 3; column 'age', row 2: ",
        ),
        ({"rows": [ROW] * (inputs.MOST_EXAMPLES + 1)}, 422, "at most 10,000 examples"),
    ],
)
def test_bad_examples_get_one_sentence(
    client: TestClient, body: Any, status: int, words: str
) -> None:
    found = ask(client, body)
    assert (found.status_code, words in found.json()["error"]) == (status, True), found.text


def test_words_that_training_has_not_seen_are_named(client: TestClient) -> None:
    found = ask(client, {"rows": [ROW, ROW | {"city": "Bergen"}]}).json()
    assert len(found["predictions"]) == 2
    assert found["notes"] == [
        "column 'city': 'Bergen' in 1 of 2 rows was not in the training rows and counts as missing"
    ]
    assert "notes" not in ask(client, {"rows": [ROW]}).json()


def test_a_run_on_masks_answers_with_masks_of_the_size_of_the_images(
    mask_run: Run, scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [scenes / "images" / f"{k}.png" for k in range(3)]
    small = tmp_path / "small.png"
    with Image.open(asked[0]) as large:
        large.resize((7, 30)).save(small)
    files = [*asked, small]
    with TestClient(application(mask_run, [HOST]), base_url=f"http://{HOST}") as client:
        images = [base64.b64encode(path.read_bytes()).decode() for path in files]
        found = ask(client, {"images": images}).json()["predictions"]
        for answer, wanted, path in zip(found, masks(mask_run, files), files, strict=True):
            mine = Image.open(BytesIO(base64.b64decode(answer["mask"])))
            with Image.open(path) as given:
                assert mine.size == given.size
            assert np.array_equal(np.asarray(mine), np.asarray(wanted))
            assert sum(answer["shares"].values()) == pytest.approx(1)
        monkeypatch.setattr("chainrule.serve.images.MOST_SCORES", 500)
        refused = ask(client, {"images": images[:1]})
        assert refused.status_code == 422
        assert "image 1 has 24 × 20 pixels; expected at most 250" in refused.json()["error"]


def test_a_gap_may_be_left_out_where_training_had_gaps(
    train_run: Callable[..., Run], tmp_path: Path
) -> None:
    lines = [f"{k},{'' if k % 5 == 0 else k % 7},{'no' if k % 3 else 'yes'}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["p,w,y", *lines]))
    run = train_run(
        "mlp", tmp_path / "run", table=str(tmp_path / "t.csv"), target="y", keep=("p",), epochs=1
    )
    with TestClient(application(run, [HOST]), base_url=f"http://{HOST}") as client:
        given, left = (ask(client, {"rows": [row]}) for row in ({"p": 4, "w": None}, {"p": 4}))
        assert given.json() == left.json() and left.status_code == 200
        near = ask(client, {"rows": [{"p": 4, "W": 3}]})
        assert near.status_code == 422 and "has no 'w', but 'W'" in near.json()["error"]
        assert ask(client, {"rows": [{"w": 4}]}).status_code == 422
        row = client.get("/openapi.json").json()["paths"]["/predict"]["post"]["requestBody"]
        schema = row["content"]["application/json"]["schema"]["properties"]["rows"]["items"]
        assert schema["required"] == ["p"]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"rows": [{"age": NaN, "city": "Oslo"}]}', "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"", "", 415),
    ],
)
def test_bodies_that_are_not_json_are_refused(
    client: TestClient, content: bytes, kind: str, status: int
) -> None:
    found = client.post("/predict", content=content, headers={"content-type": kind})
    assert found.status_code == status and found.json()["error"]


def test_strangers_are_refused(client: TestClient) -> None:
    body = {"rows": [ROW]}
    assert ask(client, body, host="evil.example").status_code == 421
    assert ask(client, body, origin="http://evil.example").status_code == 403
    assert ask(client, body, origin=f"http://{HOST}").status_code == 200
    large = {"content-length": str(LARGEST_BODY + 1), "content-type": "application/json"}
    assert client.post("/predict", content=b"{}", headers=large).status_code == 413
    assert client.get("/predict").status_code == 405
    assert client.get("/static/../app.py").status_code == 404


def test_a_token_is_asked_for_by_all_that_knows_the_run(table_run: Run) -> None:
    token = "0123456789abcdef"
    with TestClient(application(table_run, [HOST], token), base_url=f"http://{HOST}") as client:
        for path in ("/", "/health", "/static/page.js"):
            assert client.get(path).status_code == 200
        for path in ("/openapi.json", "/metrics"):
            assert client.get(path).status_code == 401
        assert ask(client, {"rows": [ROW]}).status_code == 401
        assert ask(client, {"rows": [ROW]}, authorization="Bearer wrong").status_code == 401
        assert ask(client, {"rows": [ROW]}, authorization=f"Bearer {token}").status_code == 200


def test_metrics_count_what_was_answered(client: TestClient) -> None:
    ask(client, {"rows": [ROW, ROW]})
    ask(client, {"rows": []})
    found = client.get("/metrics").text
    assert 'chainrule_requests_total{status="200"} 1' in found
    assert 'chainrule_requests_total{status="422"} 1' in found
    assert "chainrule_predictions_total 2" in found
    assert 'chainrule_batch_examples_bucket{le="2"} 1' in found


def test_a_drawn_digit_is_read(train_run: Callable[..., Run], tmp_path: Path) -> None:
    run = train_run("digits-mlp", tmp_path / "run", epochs=1)
    picture = np.full((40, 40), 255, np.uint8)
    picture[8:32, 18:23] = 0
    content = BytesIO()
    Image.fromarray(picture).save(content, "PNG")
    (tmp_path / "one.png").write_bytes(content.getvalue())
    with TestClient(application(run, [HOST]), base_url=f"http://{HOST}") as client:
        text = base64.b64encode(content.getvalue()).decode()
        found = ask(client, {"images": [text]}).json()["predictions"]
        assert found[0]["prediction"] == run.predict(tmp_path / "one.png")[0]["prediction"]
        assert "not valid base64" in ask(client, {"images": ["%"]}).json()["error"]
        assert "image 1 cannot be read" in ask(client, {"images": ["aaaa"]}).json()["error"]
        example = client.get("/openapi.json").json()["paths"]["/predict"]["post"]["requestBody"]
        body = example["content"]["application/json"]["schema"]["example"]
        assert ask(client, body).status_code == 200


def test_requests_that_wait_together_share_a_batch_and_get_their_own_answers() -> None:
    sizes: list[int] = []

    def double(requests: list[list[int]]) -> list[list[dict[str, Any]]]:
        return [[{"prediction": 2 * n} for n in request] for request in requests]

    async def ask_all() -> list[Any]:
        batcher = Batcher(double, sizes.append)
        asking = [asyncio.create_task(batcher.ask([n, n + 1], 2)) for n in range(300)]
        await asyncio.sleep(0)  # all of them wait
        work = asyncio.create_task(batcher.work())
        found = await asyncio.gather(*asking)
        work.cancel()
        return found

    for n, answers in enumerate(asyncio.run(ask_all())):
        assert [answer["prediction"] for answer in answers] == [2 * n, 2 * n + 2]
    assert len(sizes) == 3 and sum(sizes) == 600 and max(sizes) == inputs.MOST_TOGETHER


def test_one_request_that_fails_spoils_no_other() -> None:
    def answer(requests: list[int]) -> list[list[dict[str, Any]]]:
        return [[{"prediction": 1 // n}] for n in requests]

    async def ask_all() -> list[Any]:
        batcher = Batcher(answer, lambda size: None)
        asking = [asyncio.create_task(batcher.ask(n, 1)) for n in (1, 0, 1)]
        await asyncio.sleep(0)
        work = asyncio.create_task(batcher.work())
        found = await asyncio.gather(*asking, return_exceptions=True)
        work.cancel()
        return found

    first, second, third = asyncio.run(ask_all())
    assert first == third == [{"prediction": 1}]
    assert isinstance(second, ZeroDivisionError)


def test_a_full_queue_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "MOST_WAITING", 1)

    async def ask_two() -> None:
        batcher = Batcher(lambda requests: [], lambda size: None)
        waiting = asyncio.create_task(batcher.ask(1, 1))
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await batcher.ask(2, 1)
        waiting.cancel()

    asyncio.run(ask_two())


def test_hundreds_of_clients_at_once_get_their_own_answers(table_run: Run) -> None:
    httpx = pytest.importorskip("httpx2")
    rows = [{"age": 20 + k % 60, "city": ("Oslo", "Rome")[k % 2]} for k in range(400)]
    columns = {name: [row[name] for row in rows] for name in ROW}
    expected = [answer["probability"] for answer in table_run.predict(columns)]
    app = application(table_run, [HOST])

    async def ask_all() -> list[Any]:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client,
        ):
            asking = [client.post("/predict", json={"rows": [row]}, timeout=60) for row in rows]
            return [answer.json() for answer in await asyncio.gather(*asking)]

    for answer, probability in zip(asyncio.run(ask_all()), expected, strict=True):
        (found,) = answer["predictions"]
        assert found["probability"] == pytest.approx(probability, abs=1e-6)


def test_a_forecast_takes_the_past_of_each_series(
    train_run: Callable[..., Run], tmp_path: Path
) -> None:
    lines = ["day,shop,units,price"]
    for day in range(60):
        date = f"2024-{1 + day // 28:02}-{1 + day % 28:02}"
        lines += [
            f"{date},{shop},{day % 7 + 10 * k},{day % 5}"
            for k, shop in enumerate(("north", "south"))
        ]
    (tmp_path / "sales.csv").write_text("\n".join(lines))
    values = {"table": str(tmp_path / "sales.csv"), "time": "day", "target": "units"}
    more = {"group": "shop", "horizon": 3, "hidden_size": 4, "epochs": 1, "covariates": ("price",)}
    run = train_run("forecast", tmp_path / "run", **values, **more)
    expected = run.predict(tmp_path / "sales.csv")
    names = lines[0].split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines[1:]]
    series = [[row for row in rows if row["shop"] == shop] for shop in ("north", "south")]
    with TestClient(application(run, [HOST]), base_url=f"http://{HOST}") as client:
        found = ask(client, {"series": series}).json()["predictions"]
        steps = [step for answer in found for step in answer["prediction"]]
        assert [step["day"] for step in steps] == [step["day"] for step in expected]
        for mine, theirs in zip(steps, expected, strict=True):
            for name in ("prediction", "quantile 0.1", "quantile 0.9"):
                assert mine[name] == pytest.approx(theirs[name], rel=1e-5)
        assert ask(client, {"series": [inputs_of(run).sample()]}).status_code == 200
        for bad, words in (
            ([[]], "series 1: expected a list of 1 to"),
            ([[{"day": "2024-01-01"}]], "row 1: expected an object with day, units, shop, price"),
            ([series[0][:3]], "series 1: series 'north' has 3 steps; expected at least"),
            ([rows], "series 1 holds 2 groups"),
            ([[{"day": [1], "units": 1, "shop": "x", "price": 1}]], "expected numbers and texts"),
        ):
            answer = ask(client, {"series": bad})
            assert answer.status_code == 422 and words in answer.json()["error"], answer.text
