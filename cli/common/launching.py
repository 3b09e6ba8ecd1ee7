# SPDX-License-Identifier: BSD-3-Clause
"""How huddle gets into a job: settings by name, and `huddle run`."""

import subprocess

from .layout import Trouble


def check_launcher(layout, *options):
    """Complains as `huddle run` with these options would."""
    try:
        answer = subprocess.run(
            [layout.launcher, "run", *options, "--", layout.launcher, "run", "--help"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    except OSError as error:
        raise Trouble(f"cannot run {layout.launcher}: {error.strerror}") from error
    if answer.returncode != 0:
        raise Trouble(answer.stderr.strip().removeprefix("huddle: "), 2 if options else 1)


def settings_of(pairs, layout):
    """{name: value} of NAME=VALUE words.  Each that is no setting, or a bad value, is reported."""
    if pairs:
        check_launcher(layout, *(f"--set={pair}" for pair in pairs))
    return dict(pair.split("=", 1) for pair in pairs)


def with_huddle(settings, command, layout):
    """The command that runs a command with huddle and these settings."""
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return [layout.launcher, "run", *words, "--", *command]
