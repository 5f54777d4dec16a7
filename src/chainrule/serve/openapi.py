"""The interface of the service as an OpenAPI document."""

from typing import Any

import chainrule
from chainrule.serve.inputs import Inputs

Json = dict[str, Any]
ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string"}},
}
REFUSALS = {
    400: "the body is not JSON",
    401: "the token is missing or wrong",
    408: "the body did not arrive in time",
    413: "the body is too large",
    415: "the body is not announced as JSON",
    422: "the examples cannot be used; the sentence says which, and why",
    503: "too many requests wait, or the answer took too long",
}


def document(inputs: Inputs, token: bool) -> Json:
    """The OpenAPI 3.1 document.

    Args:
        inputs: what the service takes.
        token: whether it needs one.
    """
    run = inputs.run
    predict = {
        "summary": "Predictions, one for each example",
        "operationId": "predict",
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": inputs.schema()}},
        },
        "responses": {
            "200": answered("The predictions, in the order of the examples", answer_schema(inputs))
        }
        | {
            str(status): answered(text, ERROR)
            for status, text in REFUSALS.items()
            if token or status != 401
        },
    }
    paths: Json = {
        "/predict": {"post": predict},
        "/health": {"get": plain("health", "Whether the service answers", "application/json")},
        "/metrics": {"get": plain("metrics", "Counters for Prometheus", "text/plain")},
    }
    found: Json = {
        "openapi": "3.1.0",
        "info": {"title": f"chainrule: {run.name}", "version": chainrule.__version__},
        "paths": paths,
    }
    if token:
        found["components"] = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
        found["security"] = [{"token": []}]
        paths["/health"]["get"]["security"] = []
    return found


def answer_schema(inputs: Inputs) -> Json:
    """The JSON schema of the answers."""
    classes = list(inputs.run.summary.classes)
    prediction: Json = {"enum": classes} if classes and inputs.key != "prompts" else {}
    if inputs.key == "images":
        ((sample,),) = inputs.answer([inputs.examples([inputs.sample()])])
        if "shares" in sample:
            prediction = {"type": "string"}  # several classes, or nothing
    properties: Json = {
        "prediction": prediction if inputs.key in ("rows", "images", "inputs") else {},
        "probability": {"type": "number", "minimum": 0, "maximum": 1},
        "probabilities": {"type": "object", "additionalProperties": {"type": "number"}},
        "shares": {"type": "object", "additionalProperties": {"type": "number"}},
        "mask": {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"},
    }
    one = {"type": "object", "properties": properties}
    return {
        "type": "object",
        "required": ["predictions"],
        "properties": {
            "predictions": {"type": "array", "items": one},
            "notes": {"type": "array", "items": {"type": "string"}},
        },
    }


def answered(text: str, schema: Json) -> Json:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def plain(name: str, text: str, kind: str) -> Json:
    return {
        "summary": text,
        "operationId": name,
        "responses": {"200": {"description": text, "content": {kind: {"schema": {}}}}},
    }
