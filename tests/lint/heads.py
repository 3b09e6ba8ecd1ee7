# SPDX-License-Identifier: BSD-3-Clause
"""
The head of an algorithm names its source, shape and cost, and shows why it cannot deadlock and why
its data are safe (examples/algorithm/ring.c).  A family says what its algorithms share in its
headers, or in the source that has the family's name.
"""

import os
import re

import tree

CLAIMS = ("Source", "Shape", "Cost", "Deadlock", "Safety")
ALGORITHM = re.compile(r"(?:src|lab)/alg/\w+/\w+\.c")
HEAD = re.compile(r"/\*\n.*?\*/", re.DOTALL)
INCLUDE = re.compile(r'^#include "((?:lab/)?alg/\w+/\w+\.h)"', re.MULTILINE)


def included(path, texts):
    """Yields the paths of the families' headers that a file includes, and of their sources."""
    for header in INCLUDE.findall(texts[path]):
        header = header if header.startswith("lab/") else f"src/{header}"
        folder, name = os.path.split(header)
        yield header
        if name == f"{os.path.basename(folder)}.h":
            yield f"{header[:-2]}.c"


def heads_of(path, texts):
    """Returns the heads of an algorithm and of its family, as one text."""
    seen, ahead = set(), [path]
    while ahead:
        path = ahead.pop()
        if path in texts and path not in seen:
            seen.add(path)
            ahead += included(path, texts)
    return "\n".join(found[0] for path in sorted(seen) if (found := HEAD.search(texts[path])))


def check(root):
    texts = {
        path: tree.read(root, path)
        for path in tree.files(root)
        if re.match(r"(?:src|lab)/alg/\w+/", path)
    }
    complaints = []
    for path, text in texts.items():
        if not ALGORITHM.fullmatch(path) or "ALG_DEFINE(" not in text:
            continue
        heads = heads_of(path, texts)
        missing = [word for word in CLAIMS if not re.search(rf"^ \* ?{word}\b", heads, re.M)]
        if missing:
            complaints.append(f"{path}: the head has no {', '.join(missing)}")
    return complaints
