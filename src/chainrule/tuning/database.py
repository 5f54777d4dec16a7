"""The database of a study: SQLite in a file for one machine, PostgreSQL for many."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chainrule.errors import InputError

ALIVE_EVERY, DEAD_AFTER = 20, 120  # seconds between heartbeats, and until a worker counts as dead
DRIVERS = dict.fromkeys(("postgresql", "postgres"), "postgresql+psycopg")


def optuna_or_refuse() -> Any:
    """Import Optuna, an optional dependency, and silence its log."""
    try:
        import optuna
    except ImportError:
        raise InputError(
            "tune needs Optuna, which is not installed: pip install 'chainrule[tune]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def url_of(place: str) -> str:
    """A database URL with its driver, a path as a URL of SQLite."""
    kind, separator, rest = place.partition("://")
    if not separator:
        return f"sqlite:///{Path(place).resolve()}"
    return f"{DRIVERS.get(kind, kind)}://{rest}"


def check_url(place: str) -> None:
    """Refuse a URL of no known database, one with a password, and one whose driver is missing."""
    optuna_or_refuse()
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(url_of(place))
        url.get_dialect()
    except (ArgumentError, ValueError):
        raise InputError(
            "`study` is no database that is known; expected a file, or "
            "postgresql://user@machine/database"
        ) from None
    if url.password:
        raise InputError(
            "`study` holds a password, which would be written to tune.json; leave it out and put "
            "it into the variable PGPASSWORD or the file ~/.pgpass"
        )
    if url.drivername == DRIVERS["postgresql"] and find_spec("psycopg") is None:
        raise InputError(
            "PostgreSQL needs psycopg, which is not installed: pip install 'chainrule[postgres]'"
        )


def engine_options(url: str) -> dict[str, Any]:
    """Let workers on one file wait for each other; connect to a server anew for each question.

    Between two questions lie minutes, in which a server may be restarted.
    """
    from sqlalchemy.pool import NullPool

    if url.startswith("sqlite"):
        return {"connect_args": {"timeout": 120}}
    return {"poolclass": NullPool}


def storage_of(url: str) -> Any:
    """The database, with heartbeats by its own clock."""
    optuna = optuna_or_refuse()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # heartbeats are "experimental" since Optuna 2.9
        return optuna.storages.RDBStorage(
            url,
            engine_kwargs=engine_options(url),
            heartbeat_interval=ALIVE_EVERY,
            grace_period=DEAD_AFTER,
        )


@contextmanager
def database_errors(place: str) -> Iterator[None]:
    """Turn a database that cannot be read or written any more into one sentence."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (StorageInternalError, SQLAlchemyError) as error:
        raise InputError(
            f"the study {place} cannot be read or written: {said_by(error)}; its completed trials "
            "are kept, and chainrule tune --resume continues it"
        ) from None


def said_by(error: Exception) -> str:
    """The first line of what a database says, by its driver where there is one."""
    cause = error.__cause__ or error
    return (str(getattr(cause, "orig", cause)).strip() or type(cause).__name__).splitlines()[0]
