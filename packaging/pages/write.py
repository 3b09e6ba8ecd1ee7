# SPDX-License-Identifier: BSD-3-Clause
"""
Writes man pages, by click-man and go-md2man, and completion, by click, into a folder.

    write.py SOURCE BUILD PYTHON VERSION FOLDER [MD2MAN]

PYTHON: the folder with the package cli.  Without MD2MAN there is no huddle(7).
"""

import importlib
import os
import pathlib
import re
import subprocess
import sys
from types import SimpleNamespace

COMPLETIONS = {"bash": "huddle", "zsh": "_huddle", "fish": "huddle.fish"}  # shell -> its name of it
EXIT = """Exit status: 0: it did what it was asked for. 1: it failed, and a line says why. 2: the
command line is wrong. 130: Ctrl-C. huddle run has the exit status of its command, 126 where that
cannot be run, and 127 where there is none."""
# What huddle(7) has of docs/.
CONCEPTS = (
    "running.md",
    "statistics.md",
    "settings.md",
    "diagnosing-hangs.md",
    "tuning.md",
    "tuning-files.md",
    "reductions.md",
    "security.md",
    "limitations.md",
)


def described(command, words):
    """Adds the arguments, epilog and exit status to the command's description."""
    from cli.common.command_line import Argument

    shown = [
        f"{one.shown()}: {one.help}"
        for one in command.params
        if isinstance(one, Argument) and one.help
    ]
    epilog = (command.epilog or "").replace("\b\n", "")
    command.short_help = words
    command.help = "\n\n".join(filter(None, [f"{words}.", *shown, epilog, EXIT]))
    return command


def man_pages(huddle, run, version, folder):
    import click
    from click_man.core import write_man_pages

    context = click.Context(huddle, info_name="huddle")
    commands = {name: huddle.get_command(context, name) for name in huddle.list_commands(context)}
    commands["run"] = run
    for name, command in commands.items():
        described(command, huddle.words[name])
    whole = click.Group("huddle", commands=commands, help=huddle.help, params=huddle.params)
    write_man_pages("huddle", whole, version=version, target_dir=str(folder))


def completions(huddle, folder):
    from click.shell_completion import get_completion_class

    for shell, name in COMPLETIONS.items():
        script = get_completion_class(shell)(huddle, {}, "huddle", "_HUDDLE_COMPLETE").source()
        (folder / name).write_text(script, encoding="utf-8")


def concepts(source, md2man, version, folder):
    """Writes huddle(7): the introduction of README.md, and pages of docs/."""
    head = f"huddle 7 \"\" \"huddle {version}\" Miscellaneous\n==\n\n# NAME\n\n"
    head += "huddle - collectives of unmodified MPI programs\n\n# DESCRIPTION\n\n"
    introduction = (source / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    text = head + introduction.partition("\n")[2]
    for name in CONCEPTS:
        text += "\n\n" + (source / "docs" / name).read_text(encoding="utf-8")
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    page = subprocess.run([md2man], input=text, capture_output=True, text=True, check=True).stdout
    # A line that begins with ./app is no macro, and there is no font C.
    page = re.sub(r"^\.(?=[^A-Za-z\\])", r"\&.", page.replace("\\fC", "\\fB"), flags=re.MULTILINE)
    (folder / "huddle.7").write_text(page, encoding="utf-8")


def main(source, build, python, version, folder, md2man=""):
    venv = f"venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    sys.path[:0] = [python, os.path.join(build, venv)]
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():  # pages of commands that are gone, too
        old.unlink()
    (out / COMPLETIONS["bash"]).touch()  # what the build waits for
    try:
        cli = importlib.import_module("cli.main")
        run_options = importlib.import_module("cli.run_options")
        run = run_options.command(SimpleNamespace(launcher=os.path.join(build, "bin", "huddle")))
        completions(cli.HUDDLE, out)
        man_pages(cli.HUDDLE, run, version, out)
    except ModuleNotFoundError as missing:
        print(f"huddle: {missing.name} is missing: no man pages of its commands", file=sys.stderr)
    if md2man:
        concepts(pathlib.Path(source), md2man, version, out)


main(*sys.argv[1:])
