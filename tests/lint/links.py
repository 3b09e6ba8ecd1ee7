# SPDX-License-Identifier: BSD-3-Clause
"""
Links of the documents must lead to files, and only the laboratory links into lab/: an installation
of the product has none of its pages.  One section of README.md lists them, and
packaging/CMakeLists.txt leaves that section out.
"""

import os
import re

import tree

LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
SECTION = "\n## The laboratory\n"


def is_there(root, path):
    """Returns whether the tree has a file.  Files of a missing laboratory count as present."""
    missing = path.startswith("lab/") and not os.path.exists(os.path.join(root, "lab"))
    return missing or os.path.exists(os.path.join(root, path))


def may_enter_lab(path, before):
    """Returns whether a page may link into lab/.  before: the page's text before the link."""
    return path.startswith("lab/") or (path == "README.md" and SECTION in before)


def check(root):
    complaints = []
    for path in tree.files(root):
        text = tree.read(root, path) if path.endswith(".md") else ""
        for link in LINK.finditer(text):
            to = os.path.normpath(os.path.join(os.path.dirname(path), link[1]))
            if not is_there(root, to):
                complaints.append(f"{path}: no file {link[1]}")
            elif to.startswith("lab/") and not may_enter_lab(path, text[: link.start()]):
                complaints.append(f"{path}: {link[1]}: a product's page links into lab/")
    return complaints
