# SPDX-License-Identifier: BSD-3-Clause
"""
Descriptions of machines as the simulator and the models use them, of which each number counts.
"""

from __future__ import annotations

import os
from typing import Any

from cli.common import machines
from cli.common.layout import Layout


def measured_file() -> str:
    """Returns the path of this machine's description, the default file of huddle lab machine."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(
        base if os.path.isabs(base) else os.path.expanduser("~/.config"), "huddle", "machine.toml"
    )


def check(layout: Layout, machine: dict[str, Any], said_as: str) -> None:
    """
    Raises CliError if a simulation would refuse a description.  said_as: the words with which the
    complaint begins.
    """
    layout.question("model", {"ask": "description", "machine": machine}, {"machine": said_as})


def words(name: str, machine: dict[str, Any]) -> list[str]:
    """
    Returns the library's arguments for --machine NAME.  This machine needs none beyond its
    topology, since the library knows its tuning file, processors and kernel.
    """
    is_here = name == machines.THIS
    return [machine["topology"]] if is_here else machines.words(machine, name)


def doubt_text(doubt: str | None) -> str:
    """
    Returns the text after a machine's name.  `doubt` is the description's own warning, or None.
    """
    return f", by a description that is not reliable: {doubt}" if doubt else ""
