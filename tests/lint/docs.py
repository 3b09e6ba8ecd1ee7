# SPDX-License-Identifier: BSD-3-Clause
"""
Files, commands of `huddle`, their options and settings that the documents name must exist, and
docs/settings.md must match the library.
"""

import json
import os
import re
import subprocess

import links
import tree

NAMED_FILE = re.compile(
    r"`((?:src|lab|include|cli|bench|docs|tests|examples|\.ci|cmake)/[\w./+-]*\w)`"
)
COMMAND = re.compile(r"(?:^|[\s`/])huddle ((?:run|info|settings|[a-z]+)\b[^`\n#]*)")
VARIABLE = re.compile(r"\bHUDDLE(?:_[A-Z_]*[A-Z])?\b(?!\w|\*|_)")
PAGE = "docs/settings.md"


def has_lab(root):
    return os.path.exists(os.path.join(root, "lab"))


def huddle(build, *words):
    answer = subprocess.run(
        [os.path.join(build, "bin", "huddle"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return answer.returncode, answer.stdout


def in_code(text):
    """Returns the text in fenced blocks or between backquotes."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return "\n".join(fenced + re.findall(r"`([^`\n]+)`", rest))


def check_command(build, words, helps):
    """Checks a command of a document.  `words` follow `huddle` there."""
    name, *rest = words.split(" -- ")[0].split()
    if name == "lab" and rest and not rest[0].startswith("-"):
        name = f"lab {rest.pop(0)}"
    if name not in helps:
        status, helps[name] = huddle(build, *name.split(), "--help")
        if status != 0:
            helps[name] = None
    if helps[name] is None:
        return f"no command 'huddle {name}'"
    unknown = [word for word in re.findall(r"--[a-z]+", " ".join(rest)) if word not in helps[name]]
    return f"'huddle {name}' has no {unknown[0]}" if unknown else None


def check_page(root, build):
    path = os.path.join(root, PAGE)
    status, page = huddle(build, "settings", "--markdown")
    if status != 0:
        return [f"huddle settings --markdown: status {status}"]
    if not os.path.exists(path) or tree.read(root, PAGE) != page:
        return [
            f"{PAGE} is not what the library says: build/bin/huddle settings --markdown >{PAGE}"
        ]
    return []


def check(root, build):
    complaints, helps = check_page(root, build), {}
    known = {
        row["name"]
        for row in json.loads(huddle(build, "settings", "--lab", "--json")[1])["settings"]
    }
    for path in tree.files(root):
        if not path.endswith(".md"):
            continue
        text = tree.read(root, path)
        complaints += [
            f"{path}: no file {name}"
            for name in NAMED_FILE.findall(text)
            if not links.is_there(root, name)
        ]
        complaints += [
            f"{path}: {line}"
            for words in COMMAND.findall(in_code(text))
            if (has_lab(root) or not words.startswith("lab "))
            and (line := check_command(build, words, helps))
        ]
        complaints += [
            f"{path}: no setting {name}" for name in sorted(set(VARIABLE.findall(text)) - known)
        ]
    return complaints
