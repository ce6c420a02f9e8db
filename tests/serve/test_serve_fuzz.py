"""Whatever the OpenAPI document allows, and what it does not, gets an answer below 500 of the form it promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from serve_server import fill, served, settings

pytestmark = pytest.mark.slow
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    config = settings(tmp_path_factory.mktemp("fuzzed"))
    fill(config)
    with served(config) as address:
        yield address


def test_no_request_makes_the_server_fail(address: str) -> None:
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    statuses: Counter[int] = Counter()
    for found in schema.get_all_operations():
        operation = found.ok()  # type: ignore[union-attr]  # an operation it cannot read raises
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @hypothesis.settings(
                max_examples=12,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def run(case: schemathesis.Case[Any]) -> None:
                if "name" in case.path_parameters:
                    case.path_parameters["name"] = "town"
                statuses[case.call_and_validate(checks=CHECKS).status_code] += 1

            if mode is GenerationMode.POSITIVE or list(operation.iter_parameters()) or operation.body:
                run()
    assert statuses[200] > 50
    assert statuses[422] > 50
