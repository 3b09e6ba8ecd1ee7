# SPDX-License-Identifier: BSD-3-Clause
"""
Makes the reference of algorithms: a page for each collective.  Names, parameters and sources come
from the library; source, shape and cost come from the heads of the files; drawings are simulated
calls, if the simulator was built.
"""

import concurrent.futures
import hashlib
import html
import json
import pathlib
import re
import subprocess

import timeline

MACHINE, RANKS = "kunpeng-920", 8
BYTES = ("16K", "4K", "1K", "64")  # an algorithm is drawn with the first size that it accepts
FIELDS = ("Source", "Shape", "Cost", "Accepts")


def asked(program, *words):
    """Returns the JSON output of a program, or None if the program fails."""
    answer = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    return json.loads(answer.stdout) if answer.returncode == 0 else None


def head_of(text):
    """Returns the lines of the comment that describes a file, without the stars."""
    block = re.search(r"^/\*\n(.*?)^ \*/", text, re.DOTALL | re.MULTILINE)[1]
    return [re.sub(r"^ \* ?", "", line).rstrip() for line in block.splitlines()]


def field(head, name):
    """Returns the lines of `Name text` and the lines indented below it, without the indentation."""
    begin = next((i for i, line in enumerate(head) if re.match(rf"{name}\s{{2,}}", line)), None)
    if begin is None:
        return []
    column = len(re.match(rf"{name}\s+", head[begin])[0])
    lines = [head[begin][column:]]
    for line in head[begin + 1 :]:
        if line and not line.startswith(" " * 4):
            break
        lines.append(line[column:] if not line[:column].strip() else line.strip())
    while lines and not lines[-1]:
        lines.pop()
    return lines


def sources(root):
    """Returns {(collective, name): path} of all algorithms."""
    found = {}
    for path in sorted([*(root / "src/alg").rglob("*.c"), *(root / "lab/alg").rglob("*.c")]):
        text = path.read_text(encoding="utf-8")
        for coll, name in re.findall(r"\.coll = \"(\w+)\",\s*\.name = \"(\w+)\"", text):
            found[coll, name] = path
        for coll, name in re.findall(r"ALG_DEFINE\((\w+),\s+(\w+)\)", text):
            found[coll, name] = path
        for words in re.findall(r"^[A-Z_]+\((\w+(?:, \w+)*)", text, re.MULTILINE):
            for coll in words.split(", "):
                found.setdefault((coll, path.stem), path)
    return found


def parameters(rows):
    if not rows:
        return ""
    lines = [
        "{.parameters}",
        "| parameter | default | values | what |",
        "| --- | --- | --- | --- |",
    ]
    for row in rows:
        words = row["words"]
        default = words[row["default"]] if words else row["default"]
        values = ", ".join(words) if words else f"{row['min']} to {row['max']}"
        lines.append(f"| `{row['name']}` | {default} | {values} | {row['doc']} |")
    return "\n".join(lines) + "\n"


def simulator(huddle):
    return pathlib.Path(huddle).parents[1] / "libexec/huddle/simulate"


def can_simulate(huddle):
    return simulator(huddle).exists()


def simulated(huddle, *words):
    """Returns the answer of asked().  Answers of the same simulator are cached next to the site."""
    build = pathlib.Path(huddle).parents[1]
    age = simulator(huddle).stat().st_mtime_ns
    name = hashlib.sha256(repr((age, words)).encode()).hexdigest()[:24]
    path = build / "site/simulated" / f"{name}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asked(huddle, *words)), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def drawing(huddle, coll, name, blocks):
    """Returns a drawing of a simulated call and its command, or None if the simulator has none."""
    words = [
        "lab",
        "simulate",
        coll,
        "--machine",
        MACHINE,
        "--ranks",
        str(RANKS),
        "--algorithm",
        name,
    ]
    for size in ("",) if coll == "barrier" else BYTES[1 if blocks else 0 :]:
        asked_size = ["--bytes", size] if size else []
        call = simulated(huddle, *words, *asked_size, "--timeline", "--json")
        if call:
            command = " ".join(["huddle", *words, *asked_size, "--timeline"])
            return f"{timeline.svg(call['calls'][0], f'{coll}/{name} {size}')}\n\n`{command}`\n"
    return None


def told(title, lines):
    """Formats a field of a head: as prose, or unchanged if it has formulas or columns."""
    if title == "Cost" or any(re.search(r"^\s{2,}\S|\S\s{3,}\S", line) for line in lines):
        return f"**{title}**\n\n```text\n" + "\n".join(lines) + "\n```\n"
    words = re.sub(r"([<>\[\]*_`|])", r"\\\1", re.sub(r"\s+", " ", " ".join(lines)))
    return f"**{title}:** {words}\n"


def section(root, huddle, row, path, blocks):
    coll, name = row["collective"], row["name"]
    head = head_of(path.read_text(encoding="utf-8"))
    parts = [f"## {name}\n", f"{row['doc'][0].upper()}{row['doc'][1:]}.\n"]
    if row["baseline"]:
        parts.append("It exists for comparison only, and is chosen only where a setting asks.\n")
    if can_simulate(huddle):
        picture = drawing(huddle, coll, name, blocks)
        parts.append(picture or "It has no drawing: the simulator has no such call.\n")
    parts.append(parameters(row["parameters"]))
    parts += [told(title, lines) for title in FIELDS if (lines := field(head, title))]
    where = path.relative_to(root)
    text = "\n".join(head)
    parts.append(f"`{where}` has the rest: lines of memory, edges, and why it is right.\n")
    parts.append(folded(text))
    return "\n".join(parts)


def folded(text):
    """
    Returns the whole head, folded.  HTML within Markdown ends at an empty line, so it has none.
    """
    lines = html.escape(text).replace("\n\n", "\n&#8203;\n")
    return (
        '<details class="head"><summary>The whole head of the file</summary>'
        f'<div class="highlight"><pre>{lines}</pre></div></details>\n'
    )


def page(root, huddle, coll, rows, found):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(
                section, root, huddle, row, found[coll["name"], row["name"]], coll["blocks"]
            )
            for row in rows
        ]
        parts = [job.result() for job in jobs]
    words = coll["doc"][0].upper() + coll["doc"][1:]
    chosen = f"`huddle explain {coll['name']}` shows which algorithm serves which calls."
    top = [f"# {coll['mpi']}\n", f"{words}. {chosen}\n"]
    if can_simulate(huddle):
        top.append(timeline.legend() + "\n")
    return "\n".join([*top, *parts])


INTRODUCTION = """# Algorithms

Each algorithm is one file, or one function of a family's file. Its head says where it comes from,
what it costs and what it accepts. These pages are made of the heads, and of what the library tells.

{drawings}Algorithms of communicators that span nodes (`src/alg/nodes`, `src/alg/rings`) are not in
this list. [Architecture](../../docs/architecture.md) describes them.

```{{toctree}}
:maxdepth: 1

{pages}
```
"""

DRAWINGS = """A drawing is one simulated call of {ranks} ranks on two Kunpeng 920, one core per rank, all
entering at once. Time runs to the right. Four cores each share a cache: ranks 0 to 3, and 4 to 7.

{legend}

"""


def pages(root, build):
    """Returns {path: text}."""
    huddle, query = str(build / "bin/huddle"), str(build / "libexec/huddle/query")
    known, colls = (asked(query, "info", topic) for topic in ("algorithms", "collectives"))
    found, made, folder = sources(root), {}, "reference/algorithms"
    names = [coll["name"] for coll in colls]
    for coll in colls:
        rows = [row for row in known if row["collective"] == coll["name"]]
        made[f"{folder}/{coll['name']}.md"] = page(root, huddle, coll, rows, found)
    made[f"{folder}/index.md"] = INTRODUCTION.format(
        drawings=DRAWINGS.format(ranks=RANKS, legend=timeline.legend())
        if can_simulate(huddle)
        else "",
        pages="\n".join(names),
    )
    return made
