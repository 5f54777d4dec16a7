"""Time series: dates, lags and the rows of a forecast."""
