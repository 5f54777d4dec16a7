"""The space of settings: what may be written, what it means, and what is refused."""

import pytest

from chainrule.errors import InputError
from chainrule.recipes.feedforward import digits_mlp, mlp, mnist_mlp_dropout, moons_mlp, spam_mlp
from chainrule.tuning.space import (
    Dimension,
    changed,
    flags,
    grid,
    own_point,
    parse,
    searchable,
    space_of,
)

DIGITS = digits_mlp.Recipe()


@pytest.mark.parametrize("kind", [digits_mlp, mnist_mlp_dropout, spam_mlp, moons_mlp])
def test_the_default_space_holds_the_recipe_itself(kind) -> None:  # type: ignore[no-untyped-def]
    recipe = kind.Recipe.configured(weight_decay=0.0)
    if kind is mnist_mlp_dropout:  # one rate is searched for all layers
        recipe = recipe.changed(dropout=(0.3, 0.3))
    space = space_of(recipe, (), classes=True)
    point = own_point(recipe, space)
    assert point is not None
    assert changed(recipe, space, point) == recipe


def test_architecture_comes_first_and_numbers_serve_without_classes() -> None:
    assert [d.name for d in space_of(DIGITS, (), classes=True)] == [
        "hidden",
        "learning_rate",
        "weight_decay",
        "label_smoothing",
        "dropout",
    ]
    assert "label_smoothing" not in {d.name for d in space_of(DIGITS, (), classes=False)}


def test_a_draw_is_rounded_and_the_lowest_decade_means_zero() -> None:
    decay = parse(digits_mlp.Recipe, "weight-decay=1e-6:1e-2:log0")
    assert decay == Dimension("weight_decay", float, False, (), 1e-6, 1e-2, "log0")
    assert (decay.lowest, decay.value(9.9e-7), decay.value(1.23456e-3)) == (1e-7, 0.0, 1.23e-3)
    assert decay.drawn(0.0) == 1e-7
    assert decay.drawn(0.5) is None


def test_lists_are_of_the_setting_s_own_type() -> None:
    hidden = parse(digits_mlp.Recipe, "hidden=64|128,64")
    assert [hidden.value(text) for text in hidden.choices] == [(64,), (128, 64)]
    assert parse(digits_mlp.Recipe, "batch_size=32|64").value("64") == 64
    assert parse(digits_mlp.Recipe, "optimizer=adam|sgd").value("sgd") == "sgd"


def test_one_dropout_rate_serves_as_many_layers_as_there_are() -> None:
    recipe = mnist_mlp_dropout.Recipe()
    space = [parse(type(recipe), text) for text in ("hidden=64|64,64,64", "dropout=0:0.5")]
    assert changed(recipe, space, {"hidden": "64,64,64", "dropout": 0.25}).dropout == (0.25,) * 3


def test_the_recipe_s_own_dropout_rate_fits_other_numbers_of_layers() -> None:
    recipe = mnist_mlp_dropout.Recipe(dropout=(0.3, 0.3))
    space = [parse(type(recipe), text) for text in ("hidden=64|64,64,64", "dropout=0:0.5")]
    assert changed(recipe, space, {"hidden": "64,64,64", "dropout": 0.3}).dropout == (0.3,) * 3


def test_a_grid_has_all_combinations_with_equal_architectures_together() -> None:
    space = space_of(DIGITS, ("learning_rate=1e-2|1e-3", "hidden=8|16"), classes=True)
    assert [(p["hidden"], p["learning_rate"]) for p in grid(space)] == [
        ("8", "1e-2"),
        ("8", "1e-3"),
        ("16", "1e-2"),
        ("16", "1e-3"),
    ]


def test_settings_of_the_data_are_not_searched() -> None:
    assert not {"noise", "num_samples", "seed"} & set(searchable(moons_mlp.Recipe))
    assert not {"table", "target", "task", "ignore"} & set(searchable(mlp.Recipe))


def test_the_printed_flags_make_the_recipe() -> None:
    recipe = DIGITS.changed(hidden=(64, 32), learning_rate=0.0123, compile=True)
    assert flags(recipe) == ["--hidden", "64", "32", "--learning-rate", "0.0123", "--compile"]
    assert flags(DIGITS) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dropuot=0:1", "there is no setting to search named 'dropuot'; did you mean dropout"),
        ("seed=1|2", "there is no setting to search named 'seed'"),
        ("dropout", "expected name=low:high"),
        ("dropout=0.5:0.1", "expected the lower end first"),
        ("dropout=0:nan", "expected the lower end first"),
        ("dropout=a:b", "expected numbers as ends"),
        ("learning_rate=0:1:log", "begins above 0; log0 adds the 0"),
        ("learning_rate=1e-3:1:ln", "expected the scale log or log0"),
        ("batch_size=1.5:64", "expected whole numbers"),
        ("hidden=8:64", "a range needs a number"),
        ("hidden=8|many", "expected int values, got 'many'"),
        ("label_smoothing=0:1", "`label_smoothing` must be below 1"),
    ],
)
def test_what_makes_no_space_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        space_of(DIGITS, (text,), classes=True)


def test_a_setting_named_twice_is_refused() -> None:
    with pytest.raises(InputError, match="names dropout more than once"):
        space_of(DIGITS, ("dropout=0:0.1", "dropout=0:0.2"), classes=True)
