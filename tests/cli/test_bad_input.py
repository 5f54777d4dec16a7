"""Every bad input ends with exit code 2 and one clear sentence; docs/bad-input.md is the list.

The page is written by this test: `CHAINRULE_WRITE_DOCS=1 pytest tests/cli/test_bad_input.py`.
"""

import gzip
import json
import os
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas
import pytest
from PIL import Image

from chainrule.cli.main import main
from chainrule.recipes.feedforward.digits_mlp import Recipe
from chainrule.registry import find
from chainrule.runs.configuration import Configuration
from chainrule.runs.run import Run

PAGE = Path(__file__).parents[2] / "docs" / "bad-input.md"
HEAD = """# What you see when something is wrong

Exit code 2, one sentence, nothing lost. Each row is run by `tests/cli/test_bad_input.py`, and those
[from Python](#from-python) by `tests/test_bad_calls.py`.

| what is wrong | command | what you see |
|---|---|---|
"""
CALLS = "\n## From Python\n"
FORECAST = "train forecast --table"
TEXTS = "train text-classifier --table"
FOLDERS = ("pictures/flat", "broken/a", "broken/b", "two/a", "two/b", "around/old/a")
PARTS = "train mlp --table rows.parquet --target y --out-of-core"
BERT = f"{TEXTS} good.csv --text a --target y --model bert --from"
GCN = "train gcn --nodes people.csv --target y"
GRAPHS = "train graphs --edges friends.csv --target y"
CASES = [
    ("a command that does not exist", "trian digits-mlp"),
    ("a recipe that does not exist", "train digits-mpl"),
    ("a name that does not exist", "show perceptrn"),
    ("a claim that does not exist", "lab novikof"),
    ("a flag that does not exist", "train digits-mlp --epoch 3"),
    ("a word for a number", "train digits-mlp --epochs many"),
    ("a flag without its value", "train digits-mlp --epochs --quiet"),
    ("a flag twice", "train digits-mlp --epochs 3 --epochs 4"),
    ("a word too many", "resume run again"),
    ("a kind that does not exist", "list model"),
    ("flags left out", "train mlp"),
    ("a number out of range", "train digits-mlp --epochs 0"),
    ("a layer without units", "train digits-mlp --hidden 0 --out new"),
    ("a seed too large", "train digits-mlp --seed 99999999999999999999"),
    ("a run folder that is a file", "train digits-mlp --out good.csv"),
    ("nothing to predict from", "predict run"),
    ("a claim tried no times", "lab novikoff --trials 0"),
    ("a column to ignore that is not there", "train mlp --table good.csv --target y --ignore c"),
    ("too few rows", "train mlp --table tiny.csv --target y --out new"),
    ("an optimizer that does not exist", "train digits-mlp --optimizer adan"),
    ("a device that is not there", "train digits-mlp --device tpu"),
    ("a folder that is in use", "train digits-mlp --out run"),
    ("a rate far too large", "train moons-mlp --optimizer sgd --learning-rate 1e30 --out new"),
    ("no process", "train digits-mlp --processes 0 --out new"),
    ("shards of one process", "train digits-mlp --sharded --out new"),
    ("restarts of one process", "train digits-mlp --elastic 3 --out new"),
    ("more processes than rows", "train digits-mlp --batch-size 4 --processes 5 --out new"),
    (
        "more processes than rows of a part",
        "train digits-mlp --batch-size 8 --accumulate 4 --processes 3 --out new",
    ),
    ("processes without gradient steps", "train hopfield-digits --processes 2 --out new"),
    ("processes of one graph", "train karate-gcn --processes 2 --out new"),
    (
        "an ensemble in shards",
        "train digits-mlp --members 2 --processes 2 --sharded --out new",
    ),
    ("a compiled model in processes", "train digits-mlp --compile --processes 2 --out new"),
    ("a metric that is not measured", "train moons-mlp --patience 3 --monitor f1 --out new"),
    ("recording outside a checkout", "train digits-mlp --record --out new"),
    ("the suite outside a checkout", "bench mlp"),
    ("digits that are not digits", "train hopfield-digits --digits 3 12 --out new"),
    ("no such table", "train mlp --table absent.csv --target y --out new"),
    ("no such column", "train mlp --table good.csv --target z --out new"),
    ("an empty table", "train mlp --table empty.csv --target y --out new"),
    ("a short row", "train mlp --table ragged.csv --target y --out new"),
    ("words among numbers with a unit", "train mlp --table weights.csv --target y --out new"),
    ("words among numbers", "train mlp --table words.csv --target y --out new"),
    ("several faults of a table", "train mlp --table faults.csv --target y --out new"),
    ("a mark that may be decimal or not", "train mlp --table marks.csv --target y --out new"),
    ("points and commas for decimals", "train mlp --table mixed.csv --target y --out new"),
    ("percent here and there", "train mlp --table percent.csv --target y --out new"),
    ("a query to a file", "train mlp --table good.csv --target y --query 'SELECT 1' --out new"),
    ("a day that is not there", "train mlp --table dates.csv --target y --out new"),
    ("days and months in doubt", "train mlp --table orders.csv --target y --out new"),
    ("a column kept and ignored", "train mlp --table good.csv --target y --ignore a --keep a"),
    ("no such column to keep", "train mlp --table good.csv --target y --keep z --out new"),
    ("no such encoding", "train mlp --table good.csv --target y --categories ordinal --out new"),
    ("a database of several tables", "train mlp --table shop.db --target y --out new"),
    ("an infinite number", "train mlp --table infinite.csv --target y --out new"),
    ("a threshold for a number", "train mlp --table good.csv --target a --threshold f1 --out new"),
    (
        "a threshold for three classes",
        "train mlp --table good.csv --target b --target-type classification --threshold f1",
    ),
    ("one class only", "train mlp --table one-class.csv --target y --out new"),
    ("a data set that cannot be fetched", "train mnist-logistic --data nowhere --out new"),
    ("a damaged data file", "train mnist-logistic --data damaged --out new"),
    ("not a run folder", "resume somewhere"),
    ("a run that is not finished", "predict unfinished good.csv"),
    ("damaged weights", "evaluate cut"),
    ("not a picture", "predict run good.csv"),
    ("no such picture", "predict run absent.png"),
    ("several faults of a table to predict from", "predict table faults.csv"),
    ("predictions in an unknown format", "predict run pictures --out answers.json"),
    ("a run that does not write", "generate run"),
    ("no such text", "train gpt --text absent.txt --out new"),
    ("a text too short for its passages", "train gpt --text good.csv --out new"),
    ("a text that is none", "train gpt --text damaged/mnist/t10k-labels-idx1-ubyte.gz --out new"),
    (
        "heads that do not share a width",
        "train gpt --text good.csv --context-length 8 --num-heads 3 --out new",
    ),
    ("no such folder of images", "train cnn --images absent --out new"),
    ("a folder without images", "train cnn --images damaged --out new"),
    ("images without sub-folders", "train cnn --images pictures/flat --out new"),
    ("images of one class", "train cnn --images pictures --out new"),
    ("images that cannot be read", "train cnn --images broken --out new"),
    ("labels of images that are not there", "train cnn --images pictures --labels good.csv"),
    ("images too large", "train cnn --images broken --size 5000 --out new"),
    ("splits without train", "train cnn --images parts --out new"),
    ("splits beside other folders", "train cnn --images around --out new"),
    ("images turned too far", "train cnn --images two --rotation 400 --out new"),
    ("images without masks", "train unet --images two --masks pictures --out new"),
    ("masks that cannot be read", "train unet --images two --masks broken --out new"),
    ("gray images for a network of colors", "train cnn --images two --gray --model resnet18"),
    ("a beam without width", "train multi30k-gru --beam-size 0 --out new"),
    ("no words to read", "train imdb-lstm --max-length 0 --out new"),
    ("too few labels", "train imdb-bert --labeled 1 --out new"),
    ("no text to pre-train on", "train bert-pretrain --text absent.txt --out new"),
    ("documents too few to split", "train bert-pretrain --text good.csv --out new"),
    ("a cell that does not exist", "train adding --cells elman lstn --out new"),
    ("sequences of no steps", "train copy-memory --lengths 0 --out new"),
    ("claims and --all together", "lab novikoff xor --all"),
    ("an environment that does not exist", "train dqn --env CartPol-v1 --out new"),
    ("actions without number", "train dqn --env Pendulum-v1 --out new"),
    ("a discount of one", "train gridworld-value-iteration --discount 1 --out new"),
    ("an edge to nowhere", "train gcn --edges stray.csv --nodes people.csv --target y --out new"),
    ("an edge twice", "train gcn --edges twice.csv --nodes people.csv --target y --out new"),
    ("no labels", "train gcn --edges friends.csv --nodes nameless.csv --target y --out new"),
    ("a node twice", "train gcn --edges friends.csv --nodes doubles.csv --target y --out new"),
    (
        "a weight that is not there",
        f"{GCN} --edges friends.csv --weight w --out new",
    ),
    (
        "a weight below zero",
        f"{GCN} --edges debts.csv --weight w --out new",
    ),
    (
        "two weights of one edge",
        f"{GCN} --edges both.csv --weight w --out new",
    ),
    (
        "features of edges for a network that reads none",
        f"{GCN} --edges friends.csv --edge-features w --out new",
    ),
    (
        "directed edges for filters of undirected graphs",
        f"{GCN} --edges friends.csv --model cheb --directed --out new",
    ),
    (
        "heads that do not share a hidden layer",
        f"{GCN} --edges friends.csv --model gat --hidden 10 --num-heads 4 --out new",
    ),
    ("too few links", "train links --edges debts.csv --nodes people.csv --out new"),
    (
        "nodes of a graph that is not listed",
        f"{GRAPHS} --graphs sets.csv --nodes parts.csv --out new",
    ),
    (
        "nodes that name no graph",
        f"{GRAPHS} --graphs sets.csv --nodes people.csv --out new",
    ),
    (
        "edges across graphs",
        f"{GRAPHS} --graphs halves.csv --nodes members.csv --out new",
    ),
    ("a folder without clouds", "train pointnet --clouds damaged --out new"),
    ("clouds that cannot be read", "train pointnet --clouds scans --out new"),
    ("clouds of too many points", "train pointnet --clouds scans --num-points 1000000 --out new"),
    (
        "a number that may be two in a series",
        f"{FORECAST} doubted.csv --time t --target y --out new",
    ),
    ("a map with ragged rows", "train gridworld-q-learning --rows S.. .G --out new"),
    ("a method that does not exist", "train cartpole-dqn --method triple --out new"),
    ("a setting that cannot be searched", "tune digits-mlp --space rate=0.1:1"),
    ("a space without values", "tune digits-mlp --space learning_rate"),
    ("a range that is none", "tune digits-mlp --space learning_rate=1:0.1"),
    ("a logarithm of zero", "tune digits-mlp --space dropout=0:0.5:log"),
    ("a value of another type", "tune digits-mlp --space 'learning_rate=0.1|fast'"),
    ("a setting named twice", "tune digits-mlp --space dropout=0:0.2 dropout=0:0.5"),
    ("a grid over a range", "tune digits-mlp --sampler grid --space learning_rate=0.1:1"),
    ("a grid of nothing", "tune digits-mlp --sampler grid"),
    ("epochs that halving sets", "tune digits-mlp --halving --space 'epochs=2|3'"),
    ("a single fold", "tune digits-mlp --folds 1"),
    ("no trials", "tune digits-mlp --trials 0"),
    ("no workers", "tune digits-mlp --workers 0"),
    ("a metric to tune that is not measured", "tune digits-mlp --metric f1"),
    ("a layer without units in a space", "tune digits-mlp --space 'hidden=4|0'"),
    ("a range that no network has", "tune digits-mlp --space dropout=0:1.5"),
    ("a date that may be two", f"{FORECAST} doubtful.csv --time t --target y --out new"),
    ("times without a regular step", f"{FORECAST} jitter.csv --time t --target y --out new"),
    ("a day twice", f"{FORECAST} repeated.csv --time t --target y --out new"),
    ("a step that is none", f"{FORECAST} daily.csv --time t --target y --step fortnight --out new"),
    ("a series too short", f"{FORECAST} daily.csv --time t --target y --horizon 30 --out new"),
    ("no such covariate", f"{FORECAST} daily.csv --time t --target y --covariates z --out new"),
    ("a covariate of words", f"{FORECAST} worded.csv --time t --target y --covariates w --out new"),
    ("a covariate that is the target", f"{FORECAST} daily.csv --time t --target y --covariates y"),
    ("a time that is not there", f"{FORECAST} daily.csv --time when --target y --out new"),
    ("no such network", f"{FORECAST} daily.csv --time t --target y --model lstn --out new"),
    ("tuning of a forecast", "tune forecast --table daily.csv --time t --target y"),
    ("a text that is not there", f"{TEXTS} good.csv --text words --target y --out new"),
    ("a folder as a table", f"{TEXTS} two --text a --target y --out new"),
    ("too few texts", f"{TEXTS} tiny.csv --text a --target y --out new"),
    ("a text that is its own class", f"{TEXTS} good.csv --text y --target y --out new"),
    ("a pre-trained run for words", f"{TEXTS} good.csv --text a --target y --from run --out new"),
    ("a class that training lacks", f"{TEXTS} good.csv --text a --target y --test-table x.csv"),
    ("a hub folder of another network", f"{BERT} other --out new"),
    ("a hub folder without a tokenizer", f"{BERT} bare --out new"),
    ("a size that is not the folder's", f"{BERT} bare --hidden-size 64 --out new"),
    ("neither a run nor a folder", f"{BERT} absent --out new"),
    ("a published network for characters", "train gpt --text good.csv --from other --out new"),
    ("a run that is no GPT", "train gpt --text good.csv --context-length 2 --from run --out new"),
    ("no such tagged sentences", "train tagger --conll absent.conllu --out new"),
    ("sentences without tags", "train tagger --conll words.txt --out new"),
    ("a line without its tag", "train tagger --conll cut.txt --out new"),
    ("a column that is not there", "train tagger --conll tags.txt --column 7 --out new"),
    ("too few sentences", "train tagger --conll tags.txt --out new"),
    ("a pre-trained run for an lstm", "train tagger --conll tags.txt --from run --out new"),
    ("no such pairs", "train translate --pairs absent.tsv --out new"),
    ("a sentence without its translation", "train translate --pairs words.txt --out new"),
    ("too few pairs", "train translate --pairs pairs.tsv --out new"),
    ("no words allowed", "train translate --pairs pairs.tsv --max-words 0 --out new"),
    ("a rate that grows with depth", "train digits-mlp --layer-decay 2 --out new"),
    ("rates by depth in an ensemble", "train moons-mlp --members 2 --layer-decay 0.5 --out new"),
    ("rates by depth without gradients", "train hopfield-digits --layer-decay 0.5 --out new"),
    ("a log that does not exist", "train digits-mlp --log visdom --out new"),
    ("a log twice", "train digits-mlp --log csv csv --out new"),
    ("a recipe that has no splits to tune on", "tune hopfield-digits"),
    ("a recipe that needs a teacher", "tune mnist-distill"),
    ("a study that is a folder", "tune digits-mlp --study run"),
    ("a study that is no database", "tune digits-mlp --study good.csv"),
    ("a study at no URL", "tune digits-mlp --study 'postgresql://machine:port/tune'"),
    ("a study of another kind", "tune digits-mlp --study redis://machine/tune"),
    ("a password in a URL", "tune digits-mlp --study postgresql://me:secret@machine/tune"),
    ("a server that is not there", "tune digits-mlp --study postgresql://me@127.0.0.1:1/tune"),
    ("more processes than members", "train digits-mlp --members 2 --processes 3"),
    ("a search in a folder that is in use", "tune digits-mlp --out run"),
    ("not the folder of a search", "tune --resume somewhere"),
    ("a folder without texts", "train gpt --text damaged --out new"),
    ("a folder without tables", "train mlp --table two --target y --out new"),
    ("a damaged Parquet file", "train mlp --table cut.parquet --target y --out new"),
    ("a CSV file, part by part", "train mlp --table good.csv --target y --out-of-core --out new"),
    ("a decimal mark of numbers", f"{PARTS} --decimal , --out new"),
    ("an ensemble on rows on the disk", f"{PARTS} --members 2 --out new"),
    ("class weights of rows on the disk", f"{PARTS} --class-weights balanced --out new"),
    ("a search on rows on the disk", f"tune {PARTS.removeprefix('train ')}"),
    ("a format that does not exist", "export run --format onyx"),
    ("a network without a published form", "export run --format hub"),
    ("an export to a folder in use", "export run --format state-dict --out damaged"),
    ("an export of a run that is not finished", "export unfinished"),
    ("nodes of a graph for other programs", "export graph --format onnx"),
    ("an agent for other programs", "export agent --format onnx"),
    ("a service for the nodes of a graph", "serve graph"),
    ("a service for an agent", "serve agent"),
    ("a port that is none", "serve run --port 70000"),
    ("a service for all without a token", "serve run --host 0.0.0.0"),
    ("a service of a run that is not finished", "serve unfinished"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with good and bad files and runs."""
    folder = tmp_path_factory.mktemp("place")
    rows = [f"{i},{i % 5},{'no' if i % 3 else 'yes'}" for i in range(40)]
    header = "a,b,y"
    tables = {
        "good": [header, *rows],
        "empty": [],
        "tiny": [header, *rows[:4]],
        "ragged": [header, *rows[:5], "7,8"],
        "words": [header, *rows, "many,1,yes"],
        "faults": [header, *rows, "many,1,yes", "7,few,no"],
        "marks": [header, *(f'"1,{i}00",{i},{"no" if i % 3 else "yes"}' for i in range(1, 10))],
        "mixed": [header, *rows, '"1,5",1,yes', "1.5,1,yes"],
        "percent": [header, *rows, "7 %,1,yes"],
        "weights": [
            header,
            *(f"{i} kg,1,{'no' if i % 3 else 'yes'}" for i in range(40)),
            "k.A.,1,no",
        ],
        "infinite": [header, *rows, "inf,1,yes"],
        "one-class": [header, *(f"{i},{i},yes" for i in range(20))],
        "people": ["id,y", *(f"p{i},{'no' if i % 3 else 'yes'}" for i in range(40))],
        "nameless": ["id,y", *(f"p{i}," for i in range(40))],
        "doubles": ["id,y", *(f"p{i % 39},{'no' if i % 3 else 'yes'}" for i in range(40))],
        "friends": ["a,b", *(f"p{i},p{i + 1}" for i in range(39))],
        "debts": ["a,b,w", "p1,p2,1", "p2,p3,-2"],
        "both": ["a,b,w", "p1,p2,1", "p2,p1,2"],
        "sets": ["graph,y", *(f"g{i},{'no' if i % 3 else 'yes'}" for i in range(12))],
        "parts": ["id,graph", *(f"p{i},g{i}" for i in range(40))],
        "halves": ["graph,y", *(f"g{i},{'no' if i % 3 else 'yes'}" for i in range(20))],
        "members": ["id,graph", *(f"p{i},g{i // 2}" for i in range(40))],
        "doubted": ["t;y", *(f"2024-01-{i:02};1,{i}00" for i in range(1, 10))],
        "stray": ["a,b", "p1,p2", "p3,q4"],
        "daily": ["t,y", *(f"2024-01-{i:02},{i}" for i in range(1, 31))],
        "doubtful": ["t,y", *(f"{i:02}/0{i}/2024,{i}" for i in range(1, 9))],
        "worded": ["t,y,w", *(f"2024-01-{i:02},{i},dry" for i in range(1, 31))],
        "dates": ["d,y", *(f"2024-02-{i:02},{i % 2}" for i in range(10, 31))],
        "orders": ["d,y", *(f"{1 + i % 12}/{1 + i % 11}/2024,{i % 2}" for i in range(40))],
        "jitter": ["t,y", *(f"2024-01-01 {i:02}:{7 * i % 60:02}:07,{i}" for i in range(20))],
        "repeated": ["t,y", *(f"2024-01-{1 + i // 2:02},{i}" for i in range(40))],
        "x": [header, "1,2,perhaps"],
        "twice": ["a,b", "p1,p2", "p2,p3", "p1,p2"],
    }
    write_tables(folder, tables)
    pandas.read_csv(folder / "good.csv").to_parquet(folder / "rows.parquet")
    (folder / "cut.parquet").write_bytes((folder / "rows.parquet").read_bytes()[:1000])
    texts = {
        "words.txt": "They\nrun\n",
        "cut.txt": "They PRON\nrun\n",
        "tags.txt": "They PRON\nrun VERB\n",
        "pairs.tsv": "Go.\tVa !\n",
    }
    for name, content in texts.items():
        (folder / name).write_text(content)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    sizes |= {"max_position_embeddings": 32, "intermediate_size": 32, "vocab_size": 99}
    for name, kind in (("other", "roberta"), ("bare", "bert")):
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(sizes | {"model_type": kind}))
    with closing(sqlite3.connect(folder / "shop.db")) as database:
        database.executescript("CREATE TABLE sales (a); CREATE TABLE shops (b);")
    for number in range(20):
        for name in (*FOLDERS, "parts/val/a", "parts/test/b", "around/train/a", "around/test/b"):
            (folder / name).mkdir(parents=True, exist_ok=True)
            picture = folder / name / f"{number}.png"
            if name.startswith("broken"):
                picture.write_bytes(b"not a picture")
            else:
                Image.new("L", (8, 8), 10 * number + len(name)).save(picture)
    make_clouds(folder / "scans")
    make_runs(folder)
    weights = folder / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    new_run(folder / "unfinished")
    (folder / "damaged" / "mnist").mkdir(parents=True)
    for part in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
        whole = gzip.compress(bytes(1000))
        (folder / "damaged" / "mnist" / f"{part}-ubyte.gz").write_bytes(whole[:-5])
    return folder


def write_tables(folder: Path, tables: dict[str, list[str]]) -> None:
    for name, lines in tables.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n" if lines else "")


def make_runs(folder: Path) -> None:
    """Finished runs; no other program can use those of a graph and of an agent."""
    for name in ("run", "cut"):
        for _ in new_run(folder / name).train("cpu"):
            pass
    graph = "gcn --edges friends.csv --nodes people.csv --target y --epochs 1 --hidden 2"
    table = "mlp --table good.csv --target y --epochs 1 --hidden 2 --keep a"
    agent = "gridworld-q-learning --epochs 1 --epoch-steps 5 --agents 2"
    for name, command in {"graph": graph, "table": table, "agent": agent}.items():
        words = [str(folder / w) if w.endswith(".csv") else w for w in command.split()]
        assert main(["train", *words, "--quiet", "--out", str(folder / name)]) == 0


def make_clouds(folder: Path) -> None:
    """Clouds of two classes, none of which can be read."""
    for name in "ab":
        (folder / name).mkdir(parents=True)
        for number in range(10):
            (folder / name / f"{number}.xyz").write_text("1 2\n3\n")


def new_run(folder: Path) -> Run:
    configuration = Configuration(Recipe.configured(epochs=1))
    return Run.create(find("recipes", "digits-mlp"), configuration, folder)


def seen(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and the words on the error stream, without line breaks."""
    capsys.readouterr()
    code = main(shlex.split(command))
    return code, " ".join(capsys.readouterr().err.split()).replace(f"{Path.cwd()}/", "")


@pytest.fixture
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in that folder, with no network and 80 columns."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")
    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")
    return place


def test_the_page_of_bad_inputs_is_what_users_see(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = []
    for what, command in CASES:
        code, text = seen(command, capsys)
        assert code == 2, f"{command}: exit code {code}: {text}"
        assert "Traceback" not in text
        sentence = text.split("chainrule: ")[-1]
        command, sentence = (text.replace("|", "\\|") for text in (command, sentence))
        rows.append(f"| {what} | `{command}` | {sentence} |")
    commands = HEAD + "\n".join(rows) + "\n"
    page = PAGE.read_text("utf-8")
    if os.environ.get("CHAINRULE_WRITE_DOCS"):
        _, mark, calls = page.partition(CALLS)
        page = commands + mark + calls
        PAGE.write_text(page, "utf-8")
    assert page.partition(CALLS)[0] == commands


def test_nothing_is_left_behind_by_a_refused_recipe(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (here / "run" / "model.safetensors").read_bytes()
    seen("train digits-mlp --out run", capsys)
    seen("train mlp --table ragged.csv --target y --out new2", capsys)
    assert (here / "run" / "model.safetensors").read_bytes() == before
    assert not (here / "new2").exists()


def test_one_file_that_cannot_be_read_discards_no_other_answer(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.png", "b.png"):
        drawing = Image.new("L", (40, 40), 255)
        drawing.paste(0, (18, 8, 23, 32))  # a one
        drawing.save(here / name)
    code, text = seen("predict run a.png good.csv absent.png b.png --out answers.csv", capsys)
    assert code == 2
    assert text.endswith(
        "good.csv cannot be read as a PNG, JPEG or WebP image; there is no file absent.png"
    )
    rows = (here / "answers.csv").read_text("utf-8").splitlines()
    assert [row.split(",")[0] for row in rows] == ["input", "a.png", "b.png"]
    (here / "sub").mkdir()
    (here / "sub" / "a.png").write_bytes((here / "a.png").read_bytes())
    code, _ = seen("predict run a.png good.csv sub/a.png --out answers.parquet", capsys)
    assert code == 2
    table = pandas.read_parquet(here / "answers.parquet")
    assert table["input"].tolist() == ["a.png", "sub/a.png"]
    assert table["p(1)"].dtype == "float64"
    assert main(shlex.split("predict run a.png absent.png --json")) == 2
    (answer,) = json.loads(capsys.readouterr().out)["predictions"]
    assert answer["input"] == "a.png"
