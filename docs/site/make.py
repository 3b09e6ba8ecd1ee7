# SPDX-License-Identifier: BSD-3-Clause
"""
Makes the documentation site: copies the pages of the tree, as they are, into BUILD/site/source,
writes the generated ones there, and runs Sphinx.

usage: make.py BUILD [--check]

Pages keep their places to each other, so that the links of the repository are those of the site.
The laboratory adds its own pages, if the tree has one.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import algorithms
import header

import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md", "LICENSE")
FOLDERS = ("docs", "examples")  # pages, and what they link to
LABORATORY = ROOT / "lab/docs/site/gallery.py"  # adds its pages


def stage(source):
    """Copies the tree's own pages, and the files that they link to."""
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in PAGES:
        shutil.copy2(ROOT / name, source / name)
    shutil.copy2(ROOT / "docs/site/index.txt", source / "index.md")


def write(source, pages):
    """Writes pages, {path: text}."""
    for path, text in pages.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text, encoding="utf-8")


def main(build, checked):
    build = pathlib.Path(build).absolute()
    site = build / "site"
    source, out = site / "source", site / "html"
    stage(source)
    write(source, algorithms.pages(ROOT, build))
    write(source, {"reference/api.md": header.page(ROOT)})
    if LABORATORY.exists():
        subprocess.run([sys.executable, "-B", LABORATORY, build, source], check=True)
    shutil.rmtree(out, ignore_errors=True)
    words = ["-b", "html", "-E", "-q", "-c", str(ROOT / "docs/site"), "-d", str(site / "doctrees")]
    strict = ["-W", "--keep-going"] if checked else []
    done = subprocess.run(
        [sys.executable, "-B", "-m", "sphinx", *words, *strict, str(source), str(out)], check=False
    )
    if done.returncode != 0:
        return done.returncode
    complaints = check.complaints(out, ROOT / "docs/site/words.txt") if checked else []
    print("\n".join(complaints) if complaints else f"{os.path.relpath(out)}/index.html")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:] == ["--check"]))
