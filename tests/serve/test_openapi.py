"""Every request that the OpenAPI document allows, and many that it forbids, is answered by it."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from chainrule.runs.run import Run

pytest.importorskip("starlette")
schemathesis = pytest.importorskip("schemathesis")

HOST = "127.0.0.1:8500"


@pytest.mark.parametrize("broken", [False, True], ids=["allowed", "forbidden"])
@pytest.mark.parametrize("kind", ["table_run", "text_run", "picture_run", "mask_run"])
def test_the_service_keeps_its_openapi_document(
    kind: str, broken: bool, request: pytest.FixtureRequest
) -> None:
    from schemathesis.specs.openapi.checks import (
        negative_data_rejection,
        positive_data_acceptance,
    )

    from chainrule.serve.app import application

    pictures = kind in ("picture_run", "mask_run")
    run: Run = request.getfixturevalue(kind)
    app = application(run, [HOST])
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers={"host": HOST})
    mode = schemathesis.GenerationMode.NEGATIVE if broken else schemathesis.GenerationMode.POSITIVE
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == 3
    for operation in operations:
        if broken and operation.method == "get":  # nothing that could be wrong
            continue

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=30 if kind == "table_run" else 12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        def check(case: Any) -> None:
            # The service may take more than it promises, such as numbers with a currency.
            # That the bytes of an image make a picture, the document cannot say.
            lenient = [negative_data_rejection] if broken else [positive_data_acceptance] * pictures
            case.call_and_validate(headers={"host": HOST}, excluded_checks=lenient)

        check()
