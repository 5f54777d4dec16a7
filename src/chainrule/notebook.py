"""What a notebook shows: a model as the table of its layers, a figure as its picture."""

from html import escape
from io import BytesIO
from typing import Any


def show_results() -> None:
    """Let IPython show this library's models as tables and figures as pictures.

    Other modules stay as torch prints them. Without this a figure is a picture only after somebody
    has imported pyplot, which then decides how.
    """
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        formatters = shell.display_formatter.formatters
        formatters["text/html"].for_type_by_name("torch.nn.modules.module", "Module", layer_table)
        formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", picture)


def picture(figure: Any) -> bytes:
    """A matplotlib figure as a PNG file."""
    content = BytesIO()
    figure.savefig(content, format="png", dpi=100)
    return content.getvalue()


def layer_table(model: Any) -> str | None:
    """Name, kind and parameters of every layer with weights, as HTML; None for foreign models."""
    if not type(model).__module__.startswith("chainrule."):
        return None
    rows = [
        (name or "(itself)", type(part).__name__, sum(p.numel() for p in own))
        for name, part in model.named_modules()
        if (own := list(part.parameters(recurse=False)))
    ]
    total = sum(p.numel() for p in model.parameters())
    body = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(kind)}</td><td>{number:,}</td></tr>"
        for name, kind, number in rows
    )
    head = "<tr><th>layer</th><th>kind</th><th>parameters</th></tr>"
    title = f"<b>{escape(type(model).__name__)}</b>, {total:,} parameters"
    return f"{title}<table>{head}{body}</table>"
