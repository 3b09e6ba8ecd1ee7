# SPDX-License-Identifier: BSD-3-Clause
"""The tree and the build that tests in Python try; HUD_BUILD names another build."""

import os

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get("HUD_BUILD") or os.path.join(SOURCE, "build"))
