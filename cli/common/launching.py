# SPDX-License-Identifier: BSD-3-Clause
"""How huddle gets into a job: settings by name, and the loader in LD_PRELOAD."""

import difflib
import os
import secrets

from .layout import Trouble


def settings_of(pairs, layout):
    """{name: value} of NAME=VALUE words; each name is a setting."""
    known = [row["name"] for row in layout.ask("info", "settings")["settings"]] if pairs else []
    variables = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals and name in known:
            raise Trouble(
                f"--set {pair}: the value is missing (accepted: {name}=VALUE; see: huddle"
                " settings)",
                2,
            )
        if name not in known:
            near = difflib.get_close_matches(name.upper(), known, 3) or known[:1]
            raise Trouble(
                f"--set {pair}: not a setting of huddle (accepted: NAME=VALUE, for example"
                f" {', '.join(near)}; see: huddle settings)",
                2,
            )
        variables[name] = value
    return variables


def preloaded(variables, layout):
    """The given variables, and those that load huddle into a job."""
    before = os.environ.get("LD_PRELOAD")
    return {
        **variables,
        "LD_PRELOAD": f"{layout.loader}:{before}" if before else layout.loader,
        "HUDDLE_JOB": secrets.token_hex(16),
    }


def check_loader(layout):
    if not os.path.isfile(layout.loader):
        raise Trouble(f"the loader is missing: {layout.loader}")
    if any(c in layout.loader for c in " :\t\n"):  # the separators of LD_PRELOAD
        raise Trouble(
            f"a path with a space or a colon cannot be preloaded: {layout.loader}; install huddle"
            " elsewhere"
        )
