# SPDX-License-Identifier: BSD-3-Clause
"""How huddle gets into a job: settings by name, and `huddle run`."""

import difflib
import subprocess

from .layout import Trouble


def bad_pair(pair, known):
    """The line about a NAME=VALUE word that is none; None: it is fine."""
    name, equals, _ = pair.partition("=")
    if name not in known:
        near = difflib.get_close_matches(name.upper(), known, 3) or known[:1]
        return (
            f"--set {pair}: not a setting of huddle (accepted: NAME=VALUE, for example"
            f" {', '.join(near)}; see: huddle settings)"
        )
    if not equals:
        return f"--set {pair}: the value is missing (accepted: {name}=VALUE; see: huddle settings)"
    return None


def settings_of(pairs, layout):
    """{name: value} of NAME=VALUE words.  Each that is not a setting is reported."""
    known = [row["name"] for row in layout.ask("info", "settings")["settings"]] if pairs else []
    bad = [line for line in (bad_pair(pair, known) for pair in pairs) if line]
    if bad:
        raise Trouble("\nhuddle: ".join(bad), 2)
    return dict(pair.split("=", 1) for pair in pairs)


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
