# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that man pages and completion have each command and option of the CLI.
"""

import os
import re
import shutil
import unittest

from commands import run
from paths import BUILD

PAGES = os.path.join(BUILD, "packaging", "pages")
PATH = f"{BUILD}/bin:{os.environ['PATH']}"  # completion asks huddle
HUDDLE = os.path.join(BUILD, "bin", "huddle")
HELP = {"-h", "--help"}


def output(*words, **environment):
    return run(*words, COLUMNS="200", PATH=PATH, **environment)


def page(name):
    with open(os.path.join(PAGES, name), encoding="utf-8") as file:
        return file.read()


def commands():
    lines = output(HUDDLE, "--help").partition("Commands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z]+)\b", lines, re.MULTILINE)


def flags(command):
    """Returns the flags in the list of options, as shown to the user."""
    found = re.findall(r"^  (-.*?)(?:  |$)", output(HUDDLE, command, "--help"), re.MULTILINE)
    named = {flag for line in found for flag in re.findall(r"(?:^|, |/ ?)(--?[a-z_-]+)", line)}
    return named - HELP


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.flags = {command: flags(command) for command in commands()}

    def test_man_pages_have_each_command_and_option(self):
        self.assertGreater(len(self.flags), 9)
        self.assertIn("--stats", self.flags["run"])
        self.assertIn("-msglog", self.flags["bench"])
        for command, expected in self.flags.items():
            shown = page(f"huddle-{command}.1").replace("\\-", "-")
            named = re.findall(r"^\\fB(-.*)", shown, re.MULTILINE)
            self.assertEqual(expected - set(re.findall(r"--?[a-z_-]+", " ".join(named))), set())
            self.assertIn(f"huddle-{command}(1)", page("huddle.1").replace("\\-", "-"))

    def test_removed_commands_have_no_page(self):
        found = {name for name in os.listdir(PAGES) if name.startswith("huddle-")}
        self.assertEqual(found, {f"huddle-{command}.1" for command in self.flags})

    def test_the_page_of_concepts_has_the_settings(self):
        if not shutil.which("go-md2man"):
            self.skipTest("no go-md2man here")
        self.assertIn("\\fBHUDDLE_MEMORY\\fR", page("huddle.7").replace("\\_", "_"))

    def test_lint(self):
        if not shutil.which("mandoc"):
            self.skipTest("no mandoc here")
        names = [name for name in os.listdir(PAGES) if re.search(r"\.[17]$", name)]
        output("mandoc", "-T", "lint", "-W", "error", *(f"{PAGES}/{name}" for name in names))

    def bash(self, *words):
        """Returns bash's completions of the last word."""
        script = f"""
            . {PAGES}/huddle
            COMP_WORDS=({' '.join(words[:-1])} "{words[-1]}") COMP_CWORD={len(words) - 1}
            _huddle_completion huddle; printf '%s\\n' "${{COMPREPLY[@]}}" """
        return set(output("bash", "--norc", "-c", script).split())

    def test_bash(self):
        self.assertGreaterEqual(self.bash("huddle", ""), set(self.flags))
        for command, expected in self.flags.items():
            self.assertEqual(self.bash("huddle", command, "-") - HELP, expected, command)
        self.assertEqual(self.bash("huddle", "bench", "--bind", ""), {"core", "none"})
        self.assertIn("HUDDLE_MEMORY=", self.bash("huddle", "run", "--set", "HUDDLE_M"))
        self.assertIn("ls", self.bash("huddle", "run", "--", "l"))

    def fish(self, line):
        """Returns fish's completions at the end of the line."""
        script = f"source {PAGES}/huddle.fish; complete -C '{line}'"
        out = output("fish", "--no-config", "-c", script, TERM="dumb")
        return {text.split("\t")[0] for text in out.splitlines()}

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("no fish here")
        self.assertGreaterEqual(self.fish("huddle "), set(self.flags))
        for command, expected in self.flags.items():
            self.assertEqual(self.fish(f"huddle {command} -") & expected, expected, command)
        self.assertEqual(self.fish("huddle bench --bind "), {"core", "none"})
        self.assertIn("HUDDLE_MEMORY=", self.fish("huddle run --set HUDDLE_M"))
        self.assertIn("ls", self.fish("huddle run -- l"))

    def zsh(self, line):
        """Returns zsh's completions of a line typed into a terminal of its own."""
        script = f"""
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell 'PS1=; fpath=({PAGES} $fpath); autoload -Uz compinit; compinit -u -D'
            zpty -w shell 'LISTMAX=9999; bindkey "^I" list-choices; stty cols 200; echo re""ady'
            zpty -r shell text '*ready*'
            zpty -w -n shell $'{line}\\t'
            sleep 1
            zpty -w -n shell $'\\C-u'; zpty -w shell 'echo do""ne'
            zpty -r shell text '*done*'; print -r -- "$text" """
        return output("zsh", "-f", "-c", script, TERM="dumb")

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("no zsh here")
        shown = self.zsh("huddle ")
        for command in self.flags:
            self.assertIn(command, shown)
        for command in ("run", "bench"):
            shown = self.zsh(f"huddle {command} -")
            for flag in self.flags[command]:
                self.assertIn(flag, shown)
