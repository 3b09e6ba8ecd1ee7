# SPDX-License-Identifier: BSD-3-Clause
"""
Writes man pages and completions into a folder.

    write.py SOURCE TOOLS RUN_HELP VERSION FOLDER

TOOLS: the folder with huddle_cli.  RUN_HELP: a file with what `huddle run --help` prints.
"""

import os
import sys

import commands
import completion
import man


def main(source, tools, run_help, version, folder):
    with open(run_help, encoding="utf-8") as file:
        description, own, found = commands.read(tools, file.read())
    with open(os.path.join(source, "docs", "settings.md"), encoding="utf-8") as file:
        settings = commands.settings(file.read())
    files = man.pages(description, own, found, source, version)
    files.update(completion.scripts(description, own, found, settings))
    os.makedirs(folder, exist_ok=True)
    for old in set(os.listdir(folder)) - set(files):  # of a command that is no longer there
        os.unlink(os.path.join(folder, old))
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


main(*sys.argv[1:])
