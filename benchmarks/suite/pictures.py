"""Pictures of records: bars of ratios with their intervals, and log-log growth."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chainrule.plots.style import canvas, color, in_powers, marker, styled

Found = Mapping[str, Any]
BAR = 0.27  # inches
LONGEST = 60  # letters of a label


@styled
def bars(records: Sequence[Found]) -> Figure:
    """How much longer each peer takes than ours, on a logarithmic axis, with 95 % intervals."""
    groups = [(label, peers) for found in records for label, peers in peers_of(found)]
    lines = [(k, label, *peer) for k, (label, peers) in enumerate(groups) for peer in peers]
    figure = canvas(9.0, max(2.4, BAR * (len(lines) + len(groups)) + 1.0))
    axes = figure.subplots()
    place = 0.0
    last = -1
    ticks, names = [], []
    for k, label, name, (value, low, high) in lines:
        if k != last:
            axes.text(
                0.0,
                place,
                label,
                fontsize=10,
                weight="bold",
                va="center",
                ha="left",
                transform=axes.get_yaxis_transform(),
                backgroundcolor="white",
                zorder=3,
            )
            place, last = place - 1, k
        axes.barh(place, value - 1, left=1, height=0.7, color=color(0 if value >= 1 else 1))
        error = [[value - low], [high - value]]
        axes.errorbar(value, place, xerr=error, color="black", linewidth=1, capsize=2)
        axes.text(max(high, 1) * 1.04, place, f"{value:.2f} ×", va="center", fontsize=8)
        ticks.append(place)
        names.append(name)
        place -= 1
    most = max((line[3][2] for line in lines), default=2.0)
    least = min((line[3][1] for line in lines), default=1.0)
    axes.set(xscale="log", xlim=(min(0.8, least * 0.9), most * 1.5), ylim=(place, 1))
    axes.set_yticks(ticks, names, fontsize=8)
    axes.set_xlabel("time of the peer / time of chainrule", fontsize=10)
    axes.grid(visible=False, axis="y")
    in_powers(axes.xaxis)
    axes.axvline(1, color="black", linewidth=1)
    axes.spines["left"].set_visible(False)
    return figure


def peers_of(found: Found) -> list[tuple[str, list[tuple[str, list[float]]]]]:
    """Case by case: the peers and their ratios, the quickest first."""
    groups = []
    for case in found.get("cases", ()):
        label = f"{found['title']}, {case['case']}" if case["case"] else found["title"]
        peers = [
            (one["name"], one["ratio"])
            for one in case["contenders"]
            if one["ratio"] and one["name"] != found["ours"]
        ]
        if peers:
            groups.append((label, sorted(peers, key=lambda peer: peer[1][0])))
    return groups


@styled
def growth(records: Sequence[Found]) -> Figure:
    """Time above and memory below, a column for each row; the slopes stand in the legends."""
    figure = canvas(5.2 * len(records), 8.2)
    grid = figure.subplots(2, len(records), squeeze=False)
    for (upper, lower), found in zip(grid.T, records, strict=True):
        upper.set_title(found["title"], fontsize=11)
        for k, line in enumerate(found["lines"]):
            drawn(upper, line, k, "seconds", "slope", "expected")
            drawn(lower, line, k, "extra_mb", "memory_slope", "expected_memory")
        upper.set_ylabel("seconds", fontsize=11)
        lower.set_ylabel("MB beyond a small one", fontsize=11)
        lower.set_xlabel(found["axis"], fontsize=11)
        for axes in (upper, lower):
            in_powers(axes.xaxis)
            in_powers(axes.yaxis)
            axes.legend(fontsize=8)
    return figure


def drawn(axes: Axes, line: Found, k: int, what: str, slope: str, expected: str) -> None:
    """One line of a panel."""
    points = [(s, v) for s, v in zip(line["sizes"], line[what], strict=True) if v > 0]
    if not points:
        return
    told = "" if line[slope] is None else f": slope {line[slope]:.2f}"
    if line[expected] is not None and told:
        told += f", expected {line[expected]:g}"
    sizes, values = zip(*points, strict=True)
    axes.loglog(sizes, values, color=color(k), marker=marker(k), label=f"{line['name']}{told}")


@styled
def overview(records: Sequence[Found]) -> Figure:
    """A line for every case, a mark for every peer: how much longer it takes than ours."""
    groups = [group for found in records for group in peers_of(found)]
    names = list(dict.fromkeys(name for _, peers in groups for name, _ in peers))
    figure = canvas(10.0, BAR * len(groups) + 2.2)
    axes = figure.subplots()
    for k, name in enumerate(names):
        points = [
            (place, ratio)
            for place, (_, peers) in enumerate(groups)
            for other, ratio in peers
            if other == name
        ]
        places = [place for place, _ in points]
        values, low, high = zip(*(ratio for _, ratio in points), strict=True)
        error = [
            [value - least for value, least in zip(values, low, strict=True)],
            [most - value for value, most in zip(values, high, strict=True)],
        ]
        axes.errorbar(
            values, places, xerr=error, fmt=marker(k), color=color(k), markersize=5, label=name
        )
    axes.set(xscale="log", ylim=(max(len(groups), 1) - 0.5, -0.5))
    axes.set_yticks(range(len(groups)), [label[:LONGEST] for label, _ in groups], fontsize=8)
    axes.set_xlabel("time of the peer / time of chainrule", fontsize=10)
    in_powers(axes.xaxis)
    axes.axvline(1, color="black", linewidth=1)
    if names:
        figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    return figure
