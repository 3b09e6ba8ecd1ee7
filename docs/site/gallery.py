# SPDX-License-Identifier: BSD-3-Clause
"""A page with the plots of lab/evidence and of pages, each with what it shows."""

import re

import tomllib

HEAD = """# Gallery

Every plot of the project, with its data. The plots of evidence are what rows of the built-in table
rest on ([how they are made](lab/docs/evidence.md)). Measured ones name their machine in the data.

"""


def number(name):
    return int(name[1:])


def series(root):
    rows = tomllib.loads((root / "lab/evidence/series.toml").read_text(encoding="utf-8"))
    for name in sorted((name for name in rows if re.fullmatch(r"E\d+", name)), key=number):
        if (root / f"build/plots/{name}.svg").exists():
            row = rows[name]
            yield (
                f"### {name}: {row['title']}\n\n{row['kind'].capitalize()}"
                f" ([data](lab/evidence/{name}.csv)). {' '.join(row.get('notes', []))}\n\n"
                f"![{row['title']}](lab/evidence/{name}.svg)\n"
            )


def captioned(root):
    """Yields the pictures of pages, with the captions that the pages give them."""
    for path in sorted((root / "lab/docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.split("\n", 1)[0].lstrip("# ")
        found = re.findall(r"^!\[(.+?)\]\((figures/[^)]+)\)", text, re.MULTILINE)
        if found:
            where = path.relative_to(root)
            yield f"### {title}\n\nFrom the page [{title}]({where}).\n"
            for words, picture in found:
                yield f"![{words}]({where.parent}/{picture})\n\n{words}.\n"


def page(root):
    peers = (
        "## Compared with other MPIs\n\nhuddle's speed divided by that of the fastest of five other"
        " MPIs ([data](lab/evidence/peers.csv)).\n\n"
        "![Speed of huddle compared with the fastest of five other"
        " MPIs](lab/docs/figures/peers.png)\n"
    )
    parts = [HEAD + peers, "## Pages\n", *captioned(root), "## Evidence\n", *series(root)]
    return "\n".join(parts)
