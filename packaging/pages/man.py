# SPDX-License-Identifier: BSD-3-Clause
"""Man pages: huddle(1), one for each command, and huddle(7), from the parser and docs/."""

import datetime
import os

import roff

DATE = datetime.datetime.fromtimestamp(
    int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp()),
    datetime.timezone.utc,
).strftime("%Y-%m-%d")

EXIT = """0: it did what it was asked for. 1: it failed, and a line says why. 2: the command line is
wrong. 130: Ctrl-C. `huddle run` has the exit status of its command, 126 where that cannot be run,
and 127 where there is none."""

# huddle(7): (section, page of docs/).
CONCEPTS = (
    ("RUNNING PROGRAMS", "running.md"),
    ("STATISTICS", "statistics.md"),
    ("SETTINGS", "settings.md"),
    ("DIAGNOSING HANGS", "diagnosing-hangs.md"),
    ("TUNING", "tuning.md"),
    ("REDUCTIONS", "reductions.md"),
    ("SECURITY", "security.md"),
    ("LIMITATIONS", "limitations.md"),
)


def head(name, section, version):
    kind = "User Commands" if section == 1 else "Miscellaneous"
    return (
        '.\\" SPDX-License-Identifier: BSD-3-Clause\n'
        f'.TH {name.upper()} {section} {DATE} "huddle {version}" "{kind}"\n.nh\n.ad l\n'
    )


def see_also(names):
    listed = sorted(names, key=lambda one: (one[1], one[0]))
    lines = [f".BR {roff.plain(name)} ({number})" for name, number in listed]
    return roff.section("SEE ALSO", " ,\n".join(lines) + "\n")


def term(option):
    """The first line of an option's paragraph."""
    value = f" \\fI{roff.plain(option.value)}\\fR" if option.value else ""
    if not option.flags:
        return value.strip()
    return ", ".join(f"\\fB{roff.plain(flag)}\\fR" for flag in option.flags) + value


def options_of(options):
    out = []
    for option in options:
        out.append(f".TP\n{term(option)}\n{roff.sentences(option.help.rstrip('.'))}.\n")
    return "".join(out)


def title_of(group):
    return {"positional arguments": "ARGUMENTS", "options": "OPTIONS"}.get(group, group.upper())


def synopsis(usage):
    huddle, command, *arguments = usage.split(" ", 2)
    return f".B {huddle} {command}\n" + "".join(roff.plain(text) + "\n" for text in arguments)


def epilog_of(command):
    if not command.epilog:
        return ""
    if not command.laid_out:
        return roff.section("NOTES", ".PP\n" + roff.sentences(command.epilog) + "\n")
    return roff.section("NOTES", roff.code(command.epilog.strip("\n").splitlines()))


def page_of(command, version):
    name = f"huddle-{command.name}"
    return (
        head(name, 1, version)
        + roff.section("NAME", f"{roff.plain(name)} \\- {roff.plain(command.help)}\n")
        + roff.section("SYNOPSIS", synopsis(command.usage))
        + "".join(
            roff.section(roff.plain(title_of(title)), options_of(options))
            for title, options in command.groups
        )
        + epilog_of(command)
        + roff.section("EXIT STATUS", roff.sentences(EXIT) + "\n")
        + see_also([("huddle", 1), ("huddle", 7)])
    )


def first_page(description, own, commands, version):
    listed = "".join(
        f".TP\n\\fBhuddle\\-{roff.plain(one.name)}\\fR(1)\n{roff.sentences(one.help + '.')}\n"
        for one in commands
    )
    example = "huddle run -- mpirun -np 64 ./app\nhuddle run --stats -- mpirun -np 64 ./app"
    return (
        head("huddle", 1, version)
        + roff.section("NAME", f"huddle \\- {roff.plain(description.rstrip('.').lower())}\n")
        + roff.section("SYNOPSIS", ".B huddle\n[\\-h] [\\-\\-version] \\fICOMMAND\\fR ...\n")
        + roff.section("OPTIONS", options_of(own))
        + roff.section("COMMANDS", listed)
        + roff.section("EXAMPLES", roff.code(example.splitlines()))
        + roff.section("EXIT STATUS", roff.sentences(EXIT) + "\n")
        + see_also([(f"huddle-{one.name}", 1) for one in commands] + [("huddle", 7)])
    )


def concepts(readme, docs, commands, version):
    """readme: README.md's text; its introduction is the description.  docs: the folder."""
    introduction = readme.partition("\n## ")[0]
    out = [
        head("huddle", 7, version),
        roff.section("NAME", "huddle \\- collectives of unmodified MPI programs\n"),
        roff.section("DESCRIPTION", roff.markdown(introduction)),
    ]
    for title, name in CONCEPTS:
        with open(os.path.join(docs, name), encoding="utf-8") as file:
            out.append(roff.section(title, roff.markdown(file.read())))
    out.append(see_also([("huddle", 1)] + [(f"huddle-{one.name}", 1) for one in commands]))
    return "".join(out)


def pages(description, own, commands, source, version):
    """{file name: text}."""
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    found = {f"huddle-{one.name}.1": page_of(one, version) for one in commands}
    found["huddle.1"] = first_page(description, own, commands, version)
    found["huddle.7"] = concepts(readme, os.path.join(source, "docs"), commands, version)
    return found
