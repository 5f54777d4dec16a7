"""Write docs/course.md: from each section of the notes to the files that carry it out.

    make tables

A file belongs to the sections that its docstring names, such as `J 7.4`, `L exercise 10.1` or
`L "Dropout"`; nothing is listed here but the titles of numbered sections. `--check` only compares.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from chainrule.registry import ROOT, entries, references

PAGE = Path(__file__).parent / "course.md"
KINDS = ("models", "recipes", "claims", "tools")
TITLES = {
    "J 1.1": "McCulloch-Pitts neuron",
    "J 1.2": "Perceptron",
    "J 1.4": "Hopfield networks",
    "J 2.1": "Regression models",
    "J 2.2": "Layers and units",
    "J 2.3": "Linear and residual networks",
    "J 2.4": "Sigmoid networks",
    "J 2.5": "ReLU networks",
    "J 3.1": "Backpropagation",
    "J 3.2": "Gradient descent",
    "J 3.3": "Acceleration and adaptivity",
    "J 3.4": "Stochastic gradient descent",
    "J 4.1": "Convolutions",
    "J 4.2": "Convolutional layers",
    "J 5": "Recurrent networks",
    "J 5.1": "Gated memory",
    "J 5.2": "Linear recurrent models",
    "J 5.3": "Sequence learning",
    "J 6": "Transformers",
    "J 6.1": "Self-attention",
    "J 6.2": "Cross-attention",
    "J 6.3": "Positional encoding",
    "J 6.4": "Machine translation",
    "J 6.5": "BERT",
    "J 6.6": "Vision transformer",
    "J 7.1": "Invariance and equivariance",
    "J 7.2": "Deep sets",
    "J 7.3": "PointNet",
    "J 7.4": "Graph neural networks",
    "J 7.5": "Spectral graph theory",
    "J 8.1": "Initialization",
    "J 8.2": "Weight decay",
    "J 8.3": "Early stopping",
    "J 8.4": "Dropout",
    "J 8.5": "Normalization",
    "J 8.6": "Weight normalization",
    "J 8.7": "Data augmentation",
    "J 8.8": "Label smoothing",
    "J 8.9": "Distillation",
    "A 1.0.2": "What deep learning is",
    "A 1.2.1": "The perceptron",
    "A 1.2.2": "Multi-layer perceptron",
    "A 1.3.1": "Step 0: data sets",
    "A 1.3.2": "Step 1: initialization",
    "A 1.3.3": "Step 2: batches",
    "A 1.3.5": "Step 4: losses",
    "A 1.3.6": "Step 5: backpropagation",
    "A 1.3.7": "Computation graph",
    "A 1.3.8": "Step 6: gradient descent",
    "A 1.3.9": "Momentum",
    "A 1.3.10": "Adam",
    "A 1.3.11": "Newer methods",
    "A 1.3.12": "Concluding remarks",
    "A 2.1": "Convolutional networks",
    "A 2.1.1": "Motivation of convolutional networks",
    "A 2.1.2": "Computation of convolutions",
    "A 2.2": "Residual networks",
    "A 2.2.2": "Motivation of residual networks",
    "A 2.2.3": "CIFAR-10",
    "A 2.3": "Recurrent networks",
    "A 2.4": "Long short-term memory",
    "A 2.4.1": "GRU",
    "A 2.6": "Transformers",
    "A 2.6.1": "Positional encoding",
    "A 2.6.2": "Attention",
    "A 3.1": "U-nets",
    "A 4": "Reinforcement learning",
    "A 5": "Learning theory",
}
PARTS = {
    "J 1": "1 Connectionism",
    "J 2": "2 Feedforward networks",
    "J 3": "3 Gradient-based learning",
    "J 4": "4 Convolutional networks",
    "J 5": "5 Recurrent networks",
    "J 6": "6 Transformers",
    "J 7": "7 Geometric deep learning",
    "J 8": "8 Tricks of the trade",
    "A": "A, an introduction with code",
    "L": "L, a statistician's lecture",
}
HEAD = """# The course, section by section

Written by `docs/write_course.py` from what the files say of themselves. J, A and L are the three
sets of notes; *tools* are what the others are built from. Parallel
distributed processing, J 1.3, is in [ARCHITECTURE.md](../ARCHITECTURE.md): the place of each of its
seven elements.
"""


def files() -> Iterator[tuple[str, str, Path]]:
    """Kind, name and path of everything; tools are the files that are in no such registry."""
    known = {entry.path: (kind, entry.name) for kind in KINDS[:3] for entry in entries(kind)}
    for path in sorted(ROOT.rglob("*.py")):
        if path in known:
            yield *known[path], path
        elif path.stem != "__init__":
            yield "tools", path.stem.replace("_", "-"), path


def sections() -> dict[str, dict[str, list[str]]]:
    """For every section the links of each kind."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for kind, name, path in files():
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        link = f"[{name}](../src/chainrule/{path.relative_to(ROOT).as_posix()})"
        for section in dict.fromkeys(references(text)):
            if section in TITLES or section.startswith("L"):
                found[section][kind].append(link)
    return found


def order(section: str) -> tuple[object, ...]:
    """Numbers as numbers; what has none in the alphabet, after them."""
    numbers = [int(part) for part in re.findall(r"\d+", section)]
    return (not numbers, numbers, section.lower())


def page() -> str:
    """The whole of course.md."""
    found, lines = sections(), [HEAD]
    for start, title in PARTS.items():
        mine = [s for s in found if s == start or s.startswith((f"{start} ", f"{start}."))]
        lines += [f"## {title}\n", "| notes | " + " | ".join(KINDS) + " |", "|---" * 5 + "|"]
        for section in sorted(mine, key=order):
            name = f"{section} {TITLES[section]}" if section in TITLES else section
            lines.append(
                f"| {name} | " + " | ".join(", ".join(found[section][k]) for k in KINDS) + " |"
            )
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page(), "utf-8")
    elif PAGE.read_text("utf-8") != page():
        sys.exit("docs/course.md is out of date: make tables")
