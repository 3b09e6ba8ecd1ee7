# SPDX-License-Identifier: BSD-3-Clause
"""
Adds the laboratory to the sources of the documentation site, for docs/site/make.py: its pages, its
part of the index, and a gallery of the plots that docs/build has drawn.

usage: gallery.py BUILD SOURCE
"""

import pathlib
import re
import shutil
import sys

import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDERS = ("lab/docs", "lab/evidence", "lab/machines")  # pages, and what they link to
HEAD = """# Gallery

Every plot of the project, with its data. The plots of evidence are what rows of the built-in table
rest on ([how they are made](lab/docs/evidence.md)). Measured ones name their machine in the data.

## Compared with other MPIs

huddle's speed divided by that of the fastest of five other MPIs
([data](lab/evidence/peers-16-cores.csv)).

![Speed of huddle compared with the fastest of five other MPIs](lab/evidence/peers.svg)

## Evidence
"""


def number(name):
    return int(name[1:])


def series(plots):
    rows = tomllib.loads((ROOT / "lab/evidence/series.toml").read_text(encoding="utf-8"))
    for name in sorted((name for name in rows if re.fullmatch(r"E\d+", name)), key=number):
        if (plots / f"{name}.svg").exists():
            row = rows[name]
            yield (
                f"### {name}: {row['title']}\n\n{row['kind'].capitalize()}"
                f" ([data](lab/evidence/{name}.csv)). {' '.join(row.get('notes', []))}\n\n"
                f"![{row['title']}](lab/evidence/{name}.svg)\n"
            )


def main(build, source):
    plots = build / "plots"
    for name in FOLDERS:
        left_out = shutil.ignore_patterns("__pycache__", "site")
        shutil.copytree(ROOT / name, source / name, ignore=left_out)
    shutil.copy2(ROOT / "lab/README.md", source / "lab/README.md")
    for path in plots.glob("*.svg"):
        shutil.copy2(path, source / "lab/evidence" / path.name)
    page = "\n".join([HEAD, *series(plots)])
    (source / "gallery.md").write_text(page, encoding="utf-8")
    with open(source / "index.md", "a", encoding="utf-8") as index:
        index.write((ROOT / "lab/docs/site/index.txt").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
