"""Formulas of the page: parsed into functions of tensors, never evaluated as Python.

(1 - x)^2 + 10 (y - x^2)^2        numbers, x, y, k, pi, e, + - * / ^, and FUNCTIONS
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from chainrule.errors import InputError

LONGEST = 200  # characters
NUMBER = r"((?>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?))"  # atomic: 1e3 is not 1 times e3
Values = Mapping[str, Tensor]
Formula = Callable[[Values], Tensor]

FUNCTIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "sin": torch.sin,
    "cos": torch.cos,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "tanh": torch.tanh,
    "abs": torch.abs,
}
OPERATORS: Mapping[type, Callable[[Tensor, Tensor], Tensor]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
CONSTANTS = {"pi": math.pi, "e": math.e}


def formula(text: str, variables: tuple[str, ...]) -> Formula:
    """The function that a formula describes.

    Args:
        text: the formula; a product may be written without its sign: 2x, x y, 3(x + 1).
        variables: the names that may occur in it.
    """
    if len(text) > LONGEST:
        raise InputError(f"a formula may have at most {LONGEST} characters, got {len(text)}")
    try:
        tree = ast.parse(python(text), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{text!r} is not a formula such as (1 - x)^2 + 10 (y - x^2)^2") from None
    return built(tree.body, variables)


def python(text: str) -> str:
    """In Python's notation: ** for powers, and every product with its sign."""
    text = text.strip().replace("^", "**").replace("·", "*").replace("−", "-")
    text = re.sub(rf"(?<![\w.]){NUMBER}\s*(?=[a-z(])", r"\1*", text)
    text = re.sub(r"\b(pi|[a-z])(\s+(?=\w)|\s*(?=\())", r"\1*", text)  # functions have longer names
    return re.sub(r"\)\s*(?=[\w(])", ")*", text)


def built(node: ast.expr, variables: tuple[str, ...]) -> Formula:
    """The function of one node of the syntax tree; every other kind of node is refused."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return constant(float(value))
        case ast.Name(id=name) if name in CONSTANTS:
            return constant(CONSTANTS[name])
        case ast.Name(id=name) if name in variables:
            return lambda values: values[name]
        case ast.UnaryOp(op=ast.USub(), operand=part):
            inner = built(part, variables)
            return lambda values: -inner(values)
        case ast.BinOp(left=a, op=op, right=b) if type(op) in OPERATORS:
            left, right, joined = built(a, variables), built(b, variables), OPERATORS[type(op)]
            return lambda values: joined(left(values), right(values))
        case ast.Call(func=ast.Name(id=name), args=[part], keywords=[]) if name in FUNCTIONS:
            inner, function = built(part, variables), FUNCTIONS[name]
            return lambda values: function(inner(values))
    known = ", ".join([*variables, *CONSTANTS, *FUNCTIONS])
    raise InputError(
        f"a formula cannot have {ast.unparse(node)[:40]!r}; it knows numbers, + - * / ^ and {known}"
    )


def constant(value: float) -> Formula:
    return lambda _: torch.tensor(value, dtype=torch.float64)
