# SPDX-License-Identifier: BSD-3-Clause
"""The project's files, and text without its comments."""

import os
import re
import subprocess

CODE = (".c", ".h", ".cpp", ".def", ".py", ".sh", ".cmake", ".in")
PICTURES = (".png",)  # no text, though its bytes may look like text
C_CODE = (".c", ".h", ".cpp", ".def")


class Skip(Exception):
    """The reason why a lint cannot decide on this machine."""


def files(root):
    """
    Returns the paths relative to the root of the files that git tracks or would add.  Without git
    these are all files except in build/ and dot folders.
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
    """Returns C text with comments and string literals blanked.  Line numbers do not change."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.DOTALL)


def matches(pattern, text):
    """Returns (line number, matched text) of each match."""
    return [(text.count("\n", 0, m.start()) + 1, m[0].strip()) for m in re.finditer(pattern, text)]
