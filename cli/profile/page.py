# SPDX-License-Identifier: BSD-3-Clause
"""The profile as one HTML page.  It loads nothing, and follows the reader's light or dark theme."""

from __future__ import annotations

import html
from typing import Any

from ..common.text import count_text
from . import plots, tables

STYLE = """:root{color-scheme:light dark;--ink:#1d2330;--soft:#5b6474;--paper:#fff;--line:#dfe3ea;
--waiting:#d9822b;--moving:#2b6cb0;--unknown:#9aa3b2;--heat:#b83280}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8f0;--soft:#9aa5b8;--paper:#14181f;--line:#2c3442;
--waiting:#f0a04b;--moving:#63a4e8;--unknown:#6b7688;--heat:#f472b6}}
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);
background:var(--paper);max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}p{max-width:48rem}
.soft,svg .soft{color:var(--soft);fill:var(--soft)}.scroll{overflow-x:auto}
svg{width:100%;min-width:640px;font-size:12px;fill:var(--ink)}svg .end{text-anchor:end}
svg .middle{text-anchor:middle}.waiting{fill:var(--waiting);color:var(--waiting)}
.moving{fill:var(--moving);color:var(--moving)}.unknown{fill:var(--unknown);color:var(--unknown)}
.heat{fill:var(--heat)}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
td,th{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}
td.n,th.n{text-align:right}code{overflow-wrap:anywhere}"""

LEGEND = """<p><span class="waiting">■</span> waiting for late ranks
<span class="moving">■</span> moving data <span class="unknown">■</span> not split</p>"""


def escaped(value: int | str) -> str:
    return html.escape(str(value))


def grid(heads: list[Any], lines: list[Any], words: int) -> str:
    """
    Returns a table.  `words` counts the leading columns of words; the last column has words as
    well.
    """
    last = len(heads) - 1

    def row(cells: list[int | str], tag: str) -> str:
        return "<tr>" + "".join(
            f'<{tag}{"" if i < words or i == last else " class=n"}>{escaped(cell)}</{tag}>'
            for i, cell in enumerate(cells)
        )

    body = "".join(row(line, "td") for line in lines)
    return f'<div class="scroll"><table>{row(heads, "th")}{body}</table></div>'


def listed(title: str, keys: list[str], rows: list[dict[str, Any]]) -> str:
    lines = [[row[key] for key in keys] + tables.figures(row) for row in rows]
    return f"<h2>{title}</h2>" + grid([*keys, *tables.COLUMNS], lines, len(keys))


def reasons(facts: dict[str, Any]) -> str:
    """Returns the section on the calls that fell back, by reason."""
    found: dict[str, Any] = {}
    for row in facts["collectives"]:
        for why, calls in row["fell_back"].items():
            found.setdefault(why, {})[row["collective"]] = calls
    lines = [
        [why, sum(by.values()), ", ".join(f"{name} {calls}" for name, calls in by.items())]
        for why, by in sorted(found.items(), key=lambda pair: -sum(pair[1].values()))
    ]
    if not lines:
        return "<h2>What fell back</h2><p>Nothing.</p>"
    return "<h2>What fell back, and why</h2>" + grid(["reason", "calls", "collectives"], lines, 1)


def saving(facts: dict[str, Any]) -> str:
    """Returns the section on the estimated saving."""
    found = facts["saving"]
    words = f'<p class="soft">{escaped(" ".join(tables.saving_basis(found)))}</p>'
    if not found.get("covered"):
        return f"<h2>Saved by huddle</h2>{words}"
    heads, rows = [*tables.SAVING, ""], [[*row, ""] for row in tables.saving_rows(found)]
    return f"<h2>{escaped(tables.saving_title(facts))}</h2>{words}{grid(heads, rows, 1)}"


def drawn(title: str, words: str, picture: str) -> str:
    return f'<h2>{title}</h2><p class="soft">{words}</p><div class="scroll">{picture}</div>'


def of(facts: dict[str, Any]) -> str:
    state = "with huddle" if facts["huddle"] else "without huddle"
    head = (
        f"{facts['mpi']}, {state}: {facts['ranks_seen']} of {count_text(facts['ranks'], 'rank')},"
        f" {facts['seconds']:.2f} s, {tables.share_text(facts)} of it in collectives."
    )
    late = "How long after the first rank each rank comes, on average, in calls that wait for all."
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Profile of collectives</title><style>{STYLE}</style>",
        f"<h1>Profile of collectives</h1><p>{escaped(head)}</p>",
        f"<p><code>{escaped(' '.join(facts['command']))}</code></p>" if facts["command"] else "",
        f'<p class="soft">{escaped(tables.basis_text(facts))}</p>',
        *(f"<p>{escaped(note)}</p>" for note in facts["notes"]),
        drawn("Time", "Seconds, summed over ranks.", LEGEND + plots.collectives(facts)),
        drawn(
            "Sizes",
            "Bytes per rank; the stronger the colour, the more time (logarithmic). Point at a cell"
            " for figures.",
            plots.heat(facts),
        ),
        drawn("Late ranks", late, plots.lateness(facts)),
        reasons(facts),
        saving(facts),
        listed("Collectives", ["collective"], facts["collectives"]),
        listed("Communicators", ["communicator", "collective"], facts["communicators"]),
        listed("Callers and sizes", ["caller", "collective", "sizes"], facts["callers"]),
        "</html>\n",
    ]
    return "\n".join(parts)
