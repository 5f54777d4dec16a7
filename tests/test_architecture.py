"""The tree holds together: imports point one way, files stay readable, texts keep the rules."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import chainrule

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "chainrule"
FILES = sorted(PACKAGE.rglob("*.py"))
EVERYBODY = {
    "arguments",
    "errors",
    "registry",
    "graphs",
    "children",
    "addresses",
    "asgi",
    "shares",
    "",
}
LOWER = {"data", "nn", "learning", "autodiff", "plots", "console", "models", "training"}
LOWER |= {"environments", "pretrained"}
MAY_IMPORT: dict[str, set[str]] = {
    "arguments": set(),
    "errors": set(),
    "registry": set(),
    "graphs": set(),
    "notebook": set(),
    "catalog": set(),
    "children": set(),
    "addresses": set(),
    "asgi": set(),
    "shares": set(),
    "data": set(),
    "nn": set(),
    "learning": set(),
    "autodiff": set(),
    "plots": set(),
    "console": set(),
    "models": {"nn"},
    "pretrained": {"nn", "models"},
    "environments": {"nn", "models"},
    "training": {"learning", "nn"},
    "estimators": {"data", "nn", "models", "learning", "training"},
    "lab": LOWER,
    "runs": LOWER,
    "tuning": LOWER | {"runs"},
    "recipes": LOWER | {"runs", "tuning"},
    "studio": LOWER | {"runs", "tuning", "lab", "estimators", "catalog"},
    "serve": LOWER | {"runs"},
    "cli": LOWER | {"runs", "tuning", "lab", "estimators", "catalog", "studio", "serve"},
    "api": LOWER | {"runs", "tuning", "lab", "estimators", "familiar"},
    "familiar": LOWER,
}
every_file = pytest.mark.parametrize(
    "path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix()
)


def room(path: Path) -> str:
    """The folder of the package that a file lies in; a file at the top is its own room."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Rooms of the package that a file imports, wherever in the file it does."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("chainrule.")}
    return rooms


@every_file
def test_imports_point_one_way(path: Path) -> None:
    if room(path) in ("__init__", "__main__"):
        return
    allowed = MAY_IMPORT[room(path)] | EVERYBODY | {room(path)}
    assert imported(path) <= allowed


def test_an_import_that_points_back_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("def f():\n    from chainrule.cli.main import main\n    return main\n")
    assert imported(file) == {"cli"}


@every_file
def test_files_are_short_and_say_what_they_are(path: Path) -> None:
    text = path.read_text("utf-8")
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring, "every file begins with what it is"
    assert text.count("\n") <= 300


@every_file
def test_functions_have_few_parameters(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            parameters = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            names = [p.arg for p in parameters if p.arg not in ("self", "cls")]
            assert len(names) <= 8, node.name


def identifiers(tree: ast.AST) -> set[str]:
    """Every name that a file defines or uses: variables, arguments, attributes, imports."""
    fields = ("id", "arg", "attr", "name", "asname", "module")
    found = (getattr(node, field, None) for node in ast.walk(tree) for field in fields)
    return {name for name in found if isinstance(name, str)}


@every_file
def test_identifiers_can_be_typed_on_any_keyboard(path: Path) -> None:
    names = identifiers(ast.parse(path.read_text("utf-8")))
    assert {name for name in names if not name.isascii()} == set()


@pytest.mark.parametrize(
    "code",
    [
        "σ = 1",
        "def σ(): ...",
        "def f(σ): ...",
        "class Σ: ...",
        "x.σ = 1",
        "f(σ=1)",
        "f'{σ}'",
        "import a as σ",
        "try: ...\nexcept E as σ: ...",
    ],
)
def test_a_greek_identifier_is_seen(code: str) -> None:
    assert not all(name.isascii() for name in identifiers(ast.parse(code)))


def test_architecture_names_every_folder() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders <= {name for name in folders if f"{name}/" in text}
    assert folders | {path.stem for path in PACKAGE.glob("[a-z]*.py")} == set(MAY_IMPORT)


CLAIM = re.compile(r"^def check\(", re.MULTILINE)
LAB = PACKAGE / "lab"
CHAPTERS = [f for f in LAB.iterdir() if (f / "__init__.py").exists() and f.name != "helpers"]


def claims_imported(path: Path) -> set[str]:
    """Names from the lab's chapters that a file imports, wherever in the file it does."""
    imports = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if hasattr(n, "names")]
    names = {
        f"{getattr(node, 'module', '')}.{alias.name}".lstrip(".")
        for node in imports
        for alias in node.names
        if isinstance(alias, ast.alias)
    }
    chapters = tuple(f"chainrule.lab.{folder.name}" for folder in CHAPTERS)
    return {name for name in names if name.startswith(chapters)}


@pytest.mark.parametrize("path", sorted(LAB.rglob("*.py")), ids=lambda path: path.stem)
def test_no_file_of_the_lab_imports_a_claim(path: Path) -> None:
    assert not claims_imported(path)


def test_an_import_of_a_claim_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("from chainrule.lab.connectionism.xor import check\n")
    assert claims_imported(file) == {"chainrule.lab.connectionism.xor.check"}


def test_chapters_of_the_lab_hold_claims_and_helpers_hold_none() -> None:
    files = {path for folder in CHAPTERS for path in folder.glob("*.py")}
    assert files
    for path in files - {folder / "__init__.py" for folder in CHAPTERS}:
        assert CLAIM.search(path.read_text("utf-8")), f"{path.name} is no claim: move it to helpers"
    for path in (LAB / "helpers").glob("*.py"):
        assert not CLAIM.search(path.read_text("utf-8")), f"{path.name} is a claim"


def test_nothing_is_unpickled() -> None:
    """Weights are safetensors and settings JSON; Planetoid's pickles are read as data."""
    unsafe = re.compile(
        r"\b(import|from) pickle\b|\bjoblib\.load|torch\.load\(|allow_pickle=True|(?<!\.)\beval\("
    )
    for path in FILES:
        for line in path.read_text("utf-8").splitlines():
            assert not unsafe.search(line), f"{path.name}: {line}"


def test_listing_does_not_import_torch() -> None:
    code = (
        "import sys; from chainrule.cli.main import main; main(['list']);"
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy', 'matplotlib')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_version_stands_in_one_place() -> None:
    assert chainrule.__version__ in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_there_is_one_epoch_loop_one_stopping_rule_and_one_table_of_metrics() -> None:
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in FILES}

    def holding(pattern: str) -> list[str]:
        return [name for name, text in texts.items() if re.search(pattern, text)]

    assert holding(r"while not state\.stopped") == ["training/loop.py"]
    assert holding(r">= self\.patience") == ["training/stopping.py"]
    assert holding(r"higher_is_better=True") == ["learning/metrics.py"]
    assert not holding(r"co_names|in str\(error\)")


def test_no_message_of_the_library_speaks_in_flags() -> None:
    """In Python's words; the command line turns `batch_size` into --batch-size."""
    for path in FILES:
        if room(path) in ("cli", "console"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                texts = [n.value for n in ast.walk(node.exc) if isinstance(n, ast.Constant)]
                said = " ".join(text for text in texts if isinstance(text, str))
                flags = re.findall(r"(?<![\w-])--[a-z]", said)
                assert not flags or "chainrule " in said, f"{path.name}:{node.lineno}: {said}"
