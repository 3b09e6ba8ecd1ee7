# SPDX-License-Identifier: BSD-3-Clause
"""
Prints the links of an installation's pages that lead to no file, and ends with 1 if there are any.

usage: installed_links.py FOLDER
"""

import os
import re
import sys

LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def leads(place, link):
    """
    Reports whether a link of a page leads to a file.  The system follows symbolic links before
    "..", and a browser removes "folder/.." from the name first; both must find the file.
    """
    to = os.path.join(place, link)
    return os.path.exists(to) and os.path.exists(os.path.normpath(to))


def broken(folder):
    """Returns the number of pages below a folder, and "page: link" of each link without a file."""
    pages, complaints = 0, []
    for place, _, names in os.walk(folder):
        for path in (os.path.join(place, name) for name in names if name.endswith(".md")):
            pages += 1
            with open(path, encoding="utf-8") as file:
                links = LINK.findall(file.read())
            complaints += [f"{path}: {link}" for link in links if not leads(place, link)]
    return pages, complaints


def main(folder):
    pages, complaints = broken(folder)
    print(*complaints, f"{pages} pages", sep="\n")
    return 1 if complaints or pages == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
