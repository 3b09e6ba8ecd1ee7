# SPDX-License-Identifier: BSD-3-Clause
"""How huddle gets into a job: settings by name, and `huddle run`."""

from __future__ import annotations

import os
import subprocess

from .exit_status import BAD_USE, FAILED
from .layout import CliError, Layout

WISDOM = "HUDDLE_WISDOM"


def check_launcher(layout: Layout, *options: str) -> None:
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
        raise CliError(f"cannot run {layout.launcher}: {error.strerror}") from error
    if answer.returncode != 0:
        raise CliError(
            answer.stderr.strip().removeprefix("huddle: "), BAD_USE if options else FAILED
        )


def settings_of(pairs: list[str], layout: Layout) -> dict[str, str]:
    """Parses NAME=VALUE words into a dictionary.  Reports each unknown setting and bad value."""
    if pairs:
        check_launcher(layout, *(f"--set={pair}" for pair in pairs))
    return dict(pair.split("=", 1) for pair in pairs)


def unlearned() -> dict[str, str]:
    """
    Returns the settings of launches that are measured.  Figures must not depend on choices learned
    by earlier programs on this machine, unless the user's environment asks for such choices.
    """
    return {} if WISDOM in os.environ else {WISDOM: "off"}


def with_huddle(settings: dict[str, str], command: list[str], layout: Layout) -> list[str]:
    """Returns the command that runs a command with huddle and these settings."""
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return [layout.launcher, "run", *words, "--", *command]
