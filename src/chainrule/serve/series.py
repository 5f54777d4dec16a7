"""Forecasts as a service: the past of a series goes in, the steps after its end come out."""

from typing import Any

import numpy as np
import torch

from chainrule.data.readers.series.series_encoder import History, SeriesEncoder
from chainrule.data.state import shown
from chainrule.errors import InputError
from chainrule.runs.predict import forecast
from chainrule.serve.inputs import NUMBER, WORD, Inputs, Json

MOST_STEPS = 100_000  # of one series


class Series(Inputs):
    """The past of each series: a list of rows with the columns of training."""

    key = "series"

    @property
    def encoder(self) -> SeriesEncoder:
        assert isinstance(self.run.summary.encoder, SeriesEncoder)
        return self.run.summary.encoder

    @property
    def names(self) -> list[str]:
        """The columns of a row."""
        encoder = self.encoder
        every = encoder.time, encoder.target, encoder.group, *encoder.covariates
        return [name for name in every if name]

    def examples(self, given: list[Any]) -> list[History]:
        return [self.history(number, rows) for number, rows in enumerate(given, 1)]

    def history(self, number: int, rows: Any) -> History:
        """One series on the grid of time."""
        names, where = self.names, f"series {number}"
        if not isinstance(rows, list) or not 0 < len(rows) <= MOST_STEPS:
            raise InputError(
                f"{where}: expected a list of 1 to {MOST_STEPS:,} rows, got {shown(rows)}"
            )
        for k, row in enumerate(rows, 1):
            if not isinstance(row, dict) or any(name not in row for name in names):
                raise InputError(
                    f"{where}, row {k}: expected an object with {', '.join(names)}, "
                    f"got {shown(row)}"
                )
            if any(isinstance(row[name], dict | list) for name in names):
                raise InputError(f"{where}, row {k}: expected numbers and texts, got {shown(row)}")
        try:
            found = self.encoder.histories({name: [row[name] for row in rows] for name in names})
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        if len(found) != 1:
            raise InputError(f"{where} holds {len(found)} groups; expected one series in each list")
        return found[0]

    def answer(self, requests: list[list[History]]) -> list[list[Json]]:
        every = [history for request in requests for history in request]
        output = forecast(self.run, self.encoder, every)
        found = iter(
            {"prediction": self.encoder.answers([history], one[None])}
            for history, one in zip(every, output, strict=True)
        )
        return [[next(found) for _ in request] for request in requests]

    def item(self) -> Json:
        words = self.encoder.time, self.encoder.group
        properties = {name: WORD if name in words else NUMBER for name in self.names}
        row = {"type": "object", "required": self.names, "properties": properties}
        return {"type": "array", "minItems": 1, "maxItems": MOST_STEPS, "items": row}

    def sample(self) -> list[Json]:
        encoder = self.encoder
        name, (mean, std) = next(iter(encoder.scales.items()))
        times = encoder.grid.names(np.arange(encoder.context))
        values = (mean + std * torch.arange(encoder.context).sin()).tolist()
        cells: Json = {encoder.group: name} if encoder.group else {}
        scales = zip(encoder.covariates, encoder.covariate_scales, strict=True)
        cells |= {covariate: round(center, 3) for covariate, (center, _) in scales}
        return [
            cells | {encoder.time: when, encoder.target: round(value, 3)}
            for when, value in zip(times, values, strict=True)
        ]
