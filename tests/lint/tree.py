# SPDX-License-Identifier: BSD-3-Clause
"""The project's files, and text without its comments."""

import os
import re
import subprocess

CODE = (".c", ".h", ".cpp", ".def", ".py", ".sh", ".cmake", ".in")
PICTURES = (".png",)  # no text, though by chance it may look like some
C_CODE = (".c", ".h", ".cpp", ".def")


def files(root):
    """
    Paths relative to the root: what git has, or would have; without git everything but build/ and
    dot folders.
    """
    if os.path.exists(os.path.join(root, ".git")):
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-co", "--exclude-standard"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return sorted(
            {
                path
                for path in listed.stdout.splitlines()
                if os.path.isfile(os.path.join(root, path)) and not path.endswith(PICTURES)
            }
        )
    found = []
    for folder, inner, names in os.walk(root):
        inner[:] = [
            d
            for d in inner
            if d not in ("build", "__pycache__") and (not d.startswith(".") or d == ".ci")
        ]
        found += [
            os.path.relpath(os.path.join(folder, name), root)
            for name in names
            if not name.endswith(PICTURES)
        ]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def without_comments(text):
    """C text with comments and string literals blanked; lines stay where they are."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.DOTALL)


def matches(pattern, text):
    """(line number, what matched) of each match."""
    return [(text.count("\n", 0, m.start()) + 1, m[0].strip()) for m in re.finditer(pattern, text)]
