# SPDX-License-Identifier: BSD-3-Clause
"""How huddle gets into a job: settings by name, and `huddle run`."""

import difflib
import subprocess

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


def with_huddle(settings, command, layout):
    """The command that runs a command with huddle and these settings."""
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return [layout.launcher, "run", *words, "--", *command]


def check_launcher(layout):
    """Complains as every launch would."""
    try:
        answer = subprocess.run(
            with_huddle({}, [layout.launcher, "run", "--help"], layout),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    except OSError as error:
        raise Trouble(f"cannot run {layout.launcher}: {error.strerror}") from error
    if answer.returncode != 0:
        raise Trouble(answer.stderr.strip().removeprefix("huddle: "))
