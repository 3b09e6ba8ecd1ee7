# SPDX-License-Identifier: BSD-3-Clause
"""
Finds errors in a built site: links to nowhere, pages that would load something from a network, and
words that are neither in the dictionary (hunspell, British English) nor in the project's list.
"""

import html.parser
import os
import re
import shutil
import subprocess
import urllib.parse

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}
NO_PAGES = ("genindex.html", "search.html")
QUIET = ("code", "pre", "script", "style", "svg", "kbd")  # elements without prose
VOID = ("img", "br", "hr", "meta", "link", "input", "path", "polyline", "rect", "use", "wbr", "col")


class Page(html.parser.HTMLParser):
    """The links, anchors and prose of a page."""

    def __init__(self):
        super().__init__()
        self.links, self.loads, self.anchors, self.prose = [], [], set(), []
        self.quiet = self.article = 0

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.update(given[key] for key in ("id", "name") if given.get(key))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get(LOADED.get(tag)) and given.get("rel") not in ("canonical", "search"):
            self.loads.append(given[LOADED[tag]])
        if tag in VOID:
            return
        if tag in QUIET or self.quiet:
            self.quiet += 1
        if tag == "article" or self.article:
            self.article += 1

    def handle_endtag(self, tag):
        if tag not in VOID:
            self.quiet = max(0, self.quiet - 1)
            self.article = max(0, self.article - 1)

    def handle_data(self, data):
        if self.article and not self.quiet:
            self.prose.append(data)


def read(folder):
    """Returns {path relative to the folder: Page}."""
    pages = {}
    for path in folder.rglob("*.html"):
        page = Page()
        page.feed(path.read_text(encoding="utf-8"))
        pages[str(path.relative_to(folder))] = page
    return pages


def broken(folder, pages):
    for name, page in sorted(pages.items()):
        for link in page.links + page.loads:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    yield f"{name}: loads {link} from a network"
                continue
            path = urllib.parse.unquote(parts.path)
            to = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not (folder / to).exists():
                yield f"{name}: no file {link}"
            elif parts.fragment and to in pages and name not in NO_PAGES:
                if urllib.parse.unquote(parts.fragment) not in pages[to].anchors:
                    yield f"{name}: no anchor {link}"


def words_of(page):
    """
    Returns the plain words of a page, without names that have digits, underscores or capitals
    inside.
    """
    text = re.sub(r"\S*(?:[_/@=.]\S|\d)\S*", " ", " ".join(page.prose).replace("’", "'"))
    return {re.sub(r"'s?$", "", word) for word in re.findall(r"(?<!\w)[A-Za-z][a-z']+(?!\w)", text)}


def misspelt(pages, list_path):
    if not shutil.which("hunspell"):
        return ["hunspell is missing (Debian: hunspell, hunspell-en-gb)"]
    known = set(list_path.read_text(encoding="utf-8").split())
    where = {}
    for name, page in sorted(pages.items()):
        for word in words_of(page) if name not in NO_PAGES else ():
            if word not in known and word.lower() not in known:
                where.setdefault(word, name)
    answer = subprocess.run(
        ["hunspell", "-d", "en_GB", "-i", "utf-8", "-l"],
        input="\n".join(sorted(where)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = sorted(set(answer.stdout.split()))
    return [f"{where.get(word, '?')}: '{word}' is in no dictionary" for word in found]


def complaints(folder, list_path):
    pages = read(folder)
    return [*broken(folder, pages), *misspelt(pages, list_path)]
