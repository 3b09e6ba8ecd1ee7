# SPDX-License-Identifier: BSD-3-Clause
"""
The subject of a commit has at most 72 characters.  Commits before SINCE are as they are; a shallow
clone has fewer, and those it has are checked.
"""

import os
import shutil
import subprocess

from layout import Skip

SINCE = "2026-11-22T21:00:00+00:00"
SUBJECT = 72


def subjects(root):
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "log", f"--since={SINCE}", "--format=%h %s"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [line.partition(" ") for line in done.stdout.splitlines()]


def check(root):
    if not os.path.exists(os.path.join(root, ".git")) or not shutil.which("git"):
        raise Skip("no history here")
    return [
        f"{commit}: a subject of {len(subject)} characters, more than {SUBJECT}: {subject}"
        for commit, _, subject in subjects(root)
        if len(subject) > SUBJECT
    ]
