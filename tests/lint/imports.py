# SPDX-License-Identifier: BSD-3-Clause
"""
Imports of Python go one way (docs/architecture.md): a command of the CLI may import itself and the
code that commands share, a command of the laboratory also its shared code.  Code outside the CLI
may not import the CLI, except the programs that start it.  Nothing outside the laboratory imports
it, and the CLI starts none of its programs.  Code that no command imports is not in the CLI, which
is installed.
"""

import ast
import os

import tree

SHARED = "common"
# command -> commands whose results it shows
SEES = {"model": {"simulate"}, "tune": {"bench", "wisdom"}, "validate": {"simulate"}}
LAB_PROGRAMS = {"bench-fit", "bench-machine", "messages-smpi", "model", "simulate"}
STARTS = {"join", "program", "question"}  # functions that get the name of a program
LAB, LAB_SHARED = "lab/cli/", {"described", "repetitions", "simulated"}
MAY_SEE_CLI = (
    "cli/",
    "tests/",
    "lab/tests/",
    "examples/",
    "lab/evidence/",
    "packaging/pages/",
    # tests use the CLI; ./quickstart starts its programs like `huddle bench`
)


def imported(path, text):
    """
    Yields the dotted names from the root of the tree, such as cli.common.text, that a file imports.
    """
    folder = os.path.dirname(path).split("/")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def started(text):
    """Yields the programs of the laboratory that a file starts."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", None) in STARTS:
            words = {word.value for word in node.args if isinstance(word, ast.Constant)}
            yield from sorted(words & LAB_PROGRAMS)


def laboratory(path, target):
    """Returns a complaint about an import by the laboratory's commands, or None."""
    if target[0] == "cli":
        allowed = target[1] == SHARED
    else:
        command = path.removeprefix(LAB).split("/")[0]
        allowed = target[2] in {command, *LAB_SHARED, *SEES.get(command, ())}
    return None if allowed else f"{path}: the laboratory may not import {'.'.join(target)}"


def complaint(path, name):
    """Returns a complaint about an import, or None."""
    parts, target = path.split("/"), name.split(".")
    if target[0] not in ("cli", "lab") or path.startswith("lab/tests/"):
        return None
    if path.startswith(LAB):
        return laboratory(path, target)
    if target[0] == "lab":
        return f"{path}: {parts[0]} may not import {name}"
    if not path.startswith(MAY_SEE_CLI):
        return f"{path}: {parts[0]} may not import {name}"
    if parts[0] != "cli" or parts[1:] == ["main.py"]:
        return None  # main.py has a row for each command
    command = parts[1] if len(parts) > 2 else os.path.splitext(parts[1])[0]
    if target[1] not in {command, SHARED, *SEES.get(command, ())}:
        return f"{path}: the command {command} may not import {name}"
    return None


def unused(pairs, files):
    """Yields a complaint for each module of the commands' shared code that no command imports."""
    names = {name for path, name in pairs if path.startswith("cli/")}
    for path in files:
        module = os.path.splitext(path)[0].replace("/", ".")
        if not path.startswith(f"cli/{SHARED}/") or path.endswith("/__init__.py"):
            continue
        if not any(name == module or name.startswith(module + ".") for name in names):
            yield f"{path}: no command imports it"


def check(root):
    files = [path for path in tree.files(root) if path.endswith(".py")]
    pairs = [(path, name) for path in files for name in imported(path, tree.read(root, path))]
    found = [*(complaint(path, name) for path, name in pairs), *unused(pairs, files)]
    programs = [
        f"{path}: the product may not start the laboratory's {name}"
        for path in files
        if path.startswith("cli/")
        for name in started(tree.read(root, path))
    ]
    return [words for words in found if words] + programs
