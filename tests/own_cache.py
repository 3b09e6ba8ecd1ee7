# SPDX-License-Identifier: BSD-3-Clause
"""
Cache folders of the tests' own, for pytest.  Programs with huddle read and write files in the
user's cache folder (HUDDLE_WISDOM), which no test may use or change.  Each test begins with an
empty folder.  What a class or a module prepares shares another one.
"""

import atexit
import os
import shutil
import tempfile

import pytest

USERS = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
SHARED = tempfile.mkdtemp(prefix="tests-cache-")
atexit.register(shutil.rmtree, SHARED, ignore_errors=True)
os.environ["XDG_CACHE_HOME"] = SHARED
# Other programs' caches, which only save time.
os.environ.setdefault("PIP_CACHE_DIR", os.path.join(USERS, "pip"))
os.environ.setdefault("MPLCONFIGDIR", SHARED)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch):
    with tempfile.TemporaryDirectory(prefix="test-cache-") as folder:
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        yield
