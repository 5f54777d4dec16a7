"""No test of this folder touches the user's own cache."""

from pathlib import Path

import pytest

from chainrule.data import cache


@pytest.fixture(autouse=True)
def user_cache(tmp_path_factory, monkeypatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr(cache, "user_cache", lambda: folder)
    monkeypatch.delenv("CHAINRULE_DATA", raising=False)
    return folder
