"""Every request that the OpenAPI document allows, and many that it forbids, is answered by it."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from chainrule.runs.run import Run

pytest.importorskip("starlette")
schemathesis = pytest.importorskip("schemathesis")

HOST = "127.0.0.1:8500"


@pytest.mark.parametrize("broken", [False, True], ids=["allowed", "forbidden"])
def test_the_service_keeps_its_openapi_document(table_run: Run, broken: bool) -> None:
    from schemathesis.specs.openapi.checks import negative_data_rejection

    from chainrule.serve.app import application

    app = application(table_run, [HOST])
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers={"host": HOST})
    mode = schemathesis.GenerationMode.NEGATIVE if broken else schemathesis.GenerationMode.POSITIVE
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == 3
    for operation in operations:
        if broken and operation.method == "get":  # nothing that could be wrong
            continue

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
        def check(case: Any) -> None:
            # The service may take more than it promises, such as numbers with a currency.
            lenient = [negative_data_rejection] if broken else []
            case.call_and_validate(headers={"host": HOST}, excluded_checks=lenient)

        check()
