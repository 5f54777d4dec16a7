"""Counters of a service, in the text format that Prometheus reads."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Histogram:
    """Numbers of observations up to each limit, with their sum.

    Args:
        name: of the metric.
        text: what is measured.
        limits: upper ends of the buckets.
    """

    def __init__(self, name: str, text: str, limits: Sequence[float | int]):
        self.name, self.text, self.limits = name, text, limits
        self.counts, self.total = [0] * (len(limits) + 1), 0.0

    def observe(self, value: float | int) -> None:
        self.counts[bisect_left(self.limits, value)] += 1
        self.total += value

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self.name} {self.text}"
        yield f"# TYPE {self.name} histogram"
        below = 0
        for limit, count in zip([*map(str, self.limits), "+Inf"], self.counts, strict=True):
            below += count
            yield f'{self.name}_bucket{{le="{limit}"}} {below}'
        yield f"{self.name}_sum {self.total:.6f}"
        yield f"{self.name}_count {below}"


class Monitor:
    """What a service has done since it started."""

    def __init__(self) -> None:
        self.requests: Counter[int] = Counter()
        self.predictions = 0
        self.latency = Histogram(
            "chainrule_request_seconds", "Time from request to answer.", SECONDS
        )
        self.batches = Histogram("chainrule_batch_examples", "Examples in a forward pass.", SIZES)

    def text(self) -> str:
        """All metrics."""
        lines = ["# HELP chainrule_requests_total Requests to /predict by status."]
        lines.append("# TYPE chainrule_requests_total counter")
        for status, count in sorted(self.requests.items()):
            lines.append(f'chainrule_requests_total{{status="{status}"}} {count}')
        lines.append("# HELP chainrule_predictions_total Examples that were answered.")
        lines.append("# TYPE chainrule_predictions_total counter")
        lines.append(f"chainrule_predictions_total {self.predictions}")
        return "\n".join([*lines, *self.latency.lines(), *self.batches.lines()]) + "\n"
