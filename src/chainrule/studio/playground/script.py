"""The experiment as a Python script that repeats it, and as a command where a recipe does."""

from collections.abc import Sequence
from textwrap import fill

from chainrule.studio.playground.learner import Learner
from chainrule.studio.playground.networks import Networks
from chainrule.studio.playground.perceptron import PASSES, Perceptron
from chainrule.studio.playground.points import FEWEST_TO_SPLIT
from chainrule.studio.playground.settings import Settings

RECIPES = {"moons": "moons-mlp", "xor": "xor-mlp"}


def as_python(chosen: Settings, learner: Learner) -> str:
    """A script that repeats the steps made so far and prints the same training loss."""
    if isinstance(learner, Networks):
        return lines(["import torch", "", "import chainrule as cr"], data(chosen), network(learner))
    if isinstance(learner, Perceptron):
        home = "chainrule.models.connectionism.perceptron"
        imports = ["import torch", "", "import chainrule as cr"]
        return lines(
            [*imports, f"from {home} import perceptron_algorithm"],
            data(chosen),
            perceptron(learner),
        )
    made = learner.estimator  # type: ignore[attr-defined]
    home = ".".join(type(made).__module__.split(".")[:2])
    imports = ["import torch", f"from {home} import {type(made).__name__}", ""]
    return lines(
        [*imports, "import chainrule as cr"],
        data(chosen),
        [
            f"model = {made!r}",
            "model.fit(train.x.numpy(), train.y.numpy())",
            "error = 1 - model.score(train.x.numpy(), train.y.numpy())",
            'print(f"training error {error:.2%}")',
        ],
    )


def lines(*parts: Sequence[str]) -> str:
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def data(chosen: Settings) -> list[str]:
    """`train`, the points that are learned from."""
    if chosen.data == "own":
        return own_points(chosen)
    extra = f"margin={chosen.margin}" if chosen.data == "blobs" else f"noise={chosen.noise}"
    arguments = f"seed={chosen.seed}, num_samples={chosen.num_samples}, {extra}"
    return [f"data = cr.data.{chosen.data}({arguments})", "train = data.train"]


def own_points(chosen: Settings) -> list[str]:
    numbers = ", ".join(f"({x_1!r}, {x_2!r}, {int(y)})" for x_1, x_2, y in chosen.points)
    listed = fill(f"points = [{numbers}]", 100, subsequent_indent="    ")
    both = ["x = [point[:2] for point in points]", "y = [point[2] for point in points]"]
    if len(chosen.points) < FEWEST_TO_SPLIT:
        return [listed, *both, "train = cr.data.Split(torch.tensor(x), torch.tensor(y))"]
    return [listed, *both, f"train = cr.data.arrays(x, y, seed={chosen.seed}).train"]


TRAIN_NETWORK = """\

def train_network(model, seed, steps, **settings):
    training = cr.iterate(
        model, train, seed=seed, epochs=steps + 1, device="cpu", tick=0.0, **settings
    )
    while steps:
        steps -= next(training).record is None  # not a report at the end of an epoch
    training.close()

"""


def network(learner: Networks) -> list[str]:
    """The model, its training phase by phase, and its loss."""
    chosen = learner.chosen
    if chosen.model == "ensemble":
        made = [
            "members = []",
            f"for seed in range({chosen.seed}, {chosen.seed + len(learner.members)}):",
            *(f"    {line}" for line in one_network(learner, "member", "seed")),
            "    members.append(member)",
            "model = cr.models.Ensemble(members)",
        ]
    else:
        made = one_network(learner, "model", str(chosen.seed))
    end = ['loss = cr.evaluate(model, train)["loss"]', 'print(f"training loss {loss:.6f}")']
    return [TRAIN_NETWORK, *made, *end]


def one_network(learner: Networks, name: str, seed: str) -> list[str]:
    """A network under this name, and its training."""
    chosen = learner.chosen
    return [
        f"torch.manual_seed({seed})",
        f"{name} = {constructor(chosen)}",
        *(
            f"train_network({name}, {seed}, {phase.steps}, optimizer={phase.optimizer!r}, "
            f"learning_rate={phase.learning_rate}, weight_decay={phase.weight_decay}, "
            f"batch_size={chosen.batch_size})"
            for phase in learner.phases
        ),
    ]


def constructor(chosen: Settings) -> str:
    """The network as Python spells it."""
    if chosen.model == "logistic-regression":
        return "cr.models.LogisticRegression(2)"
    if chosen.model == "residual-network":
        sizes = f"2, {chosen.units}, {chosen.layers}, 2"
        return f"cr.models.ResidualNetwork({sizes}, activation={chosen.activation!r})"
    dropout = f", dropout={chosen.dropout}" if chosen.dropout else ""
    hidden = [chosen.units] * chosen.layers
    return f"cr.models.MLP(2, {hidden}, 2, activation={chosen.activation!r}{dropout})"


def perceptron(learner: Perceptron) -> list[str]:
    return [
        "y = 2.0 * train.y - 1",
        f"course = perceptron_algorithm(train.x, y, passes={PASSES}, history=True)",
        f"*w, b = course.history[{learner.steps}]  # after {learner.steps} mistakes",
        "score = train.x.double() @ torch.stack(w) + b",
        "loss = (score * y <= 0).double().mean().item()",
        'print(f"share of mistakes {loss:.6f}")',
    ]


def as_command(chosen: Settings, learner: Learner) -> str | None:
    """The recipe that trains such a network to the end of the present epoch, or None.

    On moons and XOR it ends with the same weights. For own points, saved as points.csv, it is the
    same architecture, but the recipe draws its own splits and standardizes the columns.
    """
    if not (isinstance(learner, Networks) and chosen.model in ("mlp", "ensemble")):
        return None
    if len(learner.phases) > 1:
        return None
    if chosen.data in RECIPES and not chosen.dropout:
        head = f"{RECIPES[chosen.data]} --activation {chosen.activation}"
        head += f" --num-samples {chosen.num_samples} --noise {chosen.noise}"
    elif chosen.data == "own" and chosen.activation == "relu":
        head = f"mlp --table points.csv --target label --dropout {chosen.dropout} --patience 0"
    else:
        return None
    members = f" --members {chosen.members}" if chosen.model == "ensemble" else ""
    return f"chainrule train {head} {training_flags(chosen, learner)}{members}"


def training_flags(chosen: Settings, learner: Networks) -> str:
    (phase,) = learner.phases
    flags = {
        "hidden": " ".join([str(chosen.units)] * chosen.layers),
        "seed": chosen.seed,
        "optimizer": phase.optimizer,
        "learning-rate": phase.learning_rate,
        "weight-decay": phase.weight_decay,
        "batch-size": chosen.batch_size,
        "schedule": "constant",
        "epochs": max(1, -(-learner.steps // learner.steps_per_epoch)),
    }
    return " ".join(f"--{name} {value}" for name, value in flags.items())
