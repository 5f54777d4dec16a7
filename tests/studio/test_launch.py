"""Opening the browser: its command line, which every user can read, does not hold the token."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from chainrule.studio.launch import doorway

BROWSER = """#!/bin/sh
echo "$@" > "$SEEN.part"
mv "$SEEN.part" "$SEEN"
"""


def test_the_browser_is_told_a_private_file_and_not_the_token(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(BROWSER)
    browser.chmod(0o700)
    process = subprocess.Popen(
        [sys.executable, "-m", "chainrule", "studio", "--runs", str(tmp_path / "runs")],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"BROWSER": f"{browser} %s", "SEEN": str(seen)},
    )
    assert process.stdout is not None
    address = process.stdout.readline().split()[-1]
    token = address.partition("token=")[2]
    try:
        for _ in range(600):
            if seen.exists():
                break
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.1)
        words = seen.read_text()
        file = Path(unquote(urlparse(words.strip()).path))
        assert token and token not in words
        assert address in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert not file.parent.exists()


def test_the_file_leads_to_the_page(studio: object, page: object) -> None:
    with doorway(studio.address()) as door:  # type: ignore[attr-defined]
        context = page.context  # type: ignore[attr-defined]
        tab = context.new_page()
        tab.goto(door)
        tab.wait_for_selector("main[data-room=home] h2")
        assert tab.url.startswith(f"http://{studio.host}/")  # type: ignore[attr-defined]
        tab.wait_for_selector("#connection[data-state=connected]", state="attached")
