# SPDX-License-Identifier: BSD-3-Clause
"""
clang-format agrees with every C file.  Versions differ in taste: the one the project uses decides,
others are skipped.
"""

import re
import shutil
import subprocess

import tree

VERSION = "14"


class Skip(Exception):
    """Cannot be decided here."""


def check(root):
    tool = shutil.which(f"clang-format-{VERSION}") or shutil.which("clang-format")
    version = (
        subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        if tool
        else ""
    )
    if not re.search(rf"version {VERSION}\.", version):
        raise Skip(f"no clang-format {VERSION} here")
    wanted = [path for path in tree.files(root) if path.endswith((".c", ".h", ".cpp"))]
    answer = subprocess.run(
        [tool, "--style=file", "--dry-run", *wanted],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return re.findall(r"^.*\[-Wclang-format-violations\]$", answer.stdout, re.MULTILINE)
