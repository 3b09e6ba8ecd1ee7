# SPDX-License-Identifier: BSD-3-Clause
"""
Tools of ./test's Python environment agree with every file: clang-format, ruff, mypy, codespell
(pyproject.toml and .clang-format say how).  Other versions of the tools report other things, so
the versions in .ci/prepare.sh are used, and .pre-commit-config.yaml names the same.
"""

import os
import re
import subprocess

import tree

# A name of C files among the words stands for all of them.
COMMANDS = (
    ("ruff", "check", "--quiet", "--output-format=concise", "."),
    ("ruff", "format", "--quiet", "--diff", "."),
    ("mypy", "--no-error-summary"),
    ("codespell",),
    ("clang-format", "--style=file", "--dry-run", "--Werror", "*.c"),
)
C_CODE = (".c", ".h", ".cpp")


def version_wanted(root, tool):
    return re.search(rf"\b{tool}==([\d.]+)", tree.read(root, ".ci/prepare.sh"))[1]


def tool_of(build, tool, version):
    """Returns the tool of ./test's Python environment.  Raises Skip if it is missing."""
    path = os.path.join(build, "venv", "bin", tool)
    if os.path.exists(path):
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if re.search(rf"\b{re.escape(version)}\b", answer.stdout):
            return path
    raise tree.Skip(f"no {tool} {version} in {os.path.dirname(path)}")


def pinned(root):
    """Yields each version of .pre-commit-config.yaml that differs from .ci/prepare.sh."""
    for tool, version in re.findall(
        r"\b([\w-]+)==([\d.]+)", tree.read(root, ".pre-commit-config.yaml")
    ):
        if version != version_wanted(root, tool):
            yield f".pre-commit-config.yaml: {tool} {version} is not that of .ci/prepare.sh"


def check(root, build):
    complaints = list(pinned(root))
    code = [path for path in tree.files(root) if path.endswith(C_CODE)]
    for tool, *words in COMMANDS:
        path = tool_of(build, tool, version_wanted(root, tool))
        files = code if "*.c" in words else []
        answer = subprocess.run(
            [path, *(word for word in words if word != "*.c"), *files],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if answer.returncode != 0:
            complaints += answer.stdout.strip().split("\n")
    return complaints
