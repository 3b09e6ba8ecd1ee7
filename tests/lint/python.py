# SPDX-License-Identifier: BSD-3-Clause
"""
black agrees with every Python file (pyproject.toml says how).  Versions differ in taste: the one in
.ci/prepare.sh decides, others are skipped.
"""

import os
import re
import shutil
import subprocess

import tree
from layout import Skip


def version_wanted(root):
    return re.search(r"\bblack==([\d.]+)", tree.read(root, ".ci/prepare.sh"))[1]


def tool_of(build, version):
    """That of ./test's Python environment, or the system's.  Raises Skip."""
    own = os.path.join(build, "venv", "bin", "black")
    for tool in (own, shutil.which("black")):
        if tool and os.path.exists(tool):
            said = subprocess.run(
                [tool, "--version"], stdout=subprocess.PIPE, text=True, check=False
            )
            if re.search(rf"\b{re.escape(version)}\b", said.stdout):
                return tool
    raise Skip(f"no black {version} here")


def check(root, build):
    tool = tool_of(build, version_wanted(root))
    wanted = [path for path in tree.files(root) if path.endswith(".py")]
    command = [tool, "--config", "pyproject.toml", "--check", *wanted]
    answer = subprocess.run(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return answer.stdout.strip().split("\n") if answer.returncode else []
