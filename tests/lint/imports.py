# SPDX-License-Identifier: BSD-3-Clause
"""
Imports of Python go one way (docs/architecture.md): a command of the CLI sees what commands share
and itself; what is not the CLI does not see it, but for what starts it.
"""

import ast
import os

import tree

SHARED = "common"
# command -> commands whose answers it shows
SEES = {"model": {"simulate"}, "tune": {"bench"}, "validate": {"simulate"}}
MAY_SEE_CLI = (
    "cli/",
    "tests/",
    "examples/",
)  # tests try it; what ./quickstart shows is started as `huddle bench` starts its programs


def imported(path, text):
    """Dotted names from the root of the tree, as cli.common.text, of what a file imports."""
    folder = os.path.dirname(path).split("/")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def complaint(path, name):
    """One about that import, or None."""
    parts, target = path.split("/"), name.split(".")
    if target[0] != "cli" or parts[0] == "tests":
        return None
    if not path.startswith(MAY_SEE_CLI):
        return f"{path}: {parts[0]} may not import {name}"
    if parts[0] != "cli" or parts[1:] == ["main.py"]:
        return None  # main.py has a row per command
    command = parts[1] if len(parts) > 2 else os.path.splitext(parts[1])[0]
    if target[1] not in {command, SHARED, *SEES.get(command, ())}:
        return f"{path}: the command {command} may not import {name}"
    return None


def check(root):
    files = [path for path in tree.files(root) if path.endswith(".py")]
    found = [
        complaint(path, name) for path in files for name in imported(path, tree.read(root, path))
    ]
    return [words for words in found if words]
