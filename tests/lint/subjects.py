# SPDX-License-Identifier: BSD-3-Clause
"""
The subject of a commit has at most 72 characters and, since SCOPED, a scope: the part that it
touches, a colon, and the change.  Commits before SINCE are exempt.  In a shallow clone the
available commits are checked.
"""

import os
import re
import shutil
import subprocess

import tree

SINCE, SCOPED = "2026-11-22T21:00:00+00:00", "2026-11-29T16:00:00+00:00"
SUBJECT = 72
# "team: free the slice", "core/team, tests: ..."; git's own subject of a commit that undoes one.
SCOPE = re.compile(r'[\w./*-]+(, [\w./*-]+)*: \S|Revert "')


def subjects(root, since):
    command = ["git", "-c", "safe.directory=*", "-C", root, "log", "--no-merges"]
    done = subprocess.run(
        [*command, f"--since={since}", "--format=%h %s"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [line.partition(" ") for line in done.stdout.splitlines()]


def check(root):
    if not os.path.exists(os.path.join(root, ".git")) or not shutil.which("git"):
        raise tree.Skip("no history here")
    return [
        f"{commit}: a subject of {len(subject)} characters, more than {SUBJECT}: {subject}"
        for commit, _, subject in subjects(root, SINCE)
        if len(subject) > SUBJECT
    ] + [
        f"{commit}: a subject without a scope, as in 'team: free the slice': {subject}"
        for commit, _, subject in subjects(root, SCOPED)
        if not SCOPE.match(subject)
    ]
