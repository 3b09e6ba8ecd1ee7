# SPDX-License-Identifier: BSD-3-Clause
"""
Commands and their options, by click.  A bad word is one line: what it is, the value, what is
accepted; the status is 2.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import CompletionItem

from . import validators
from .exit_status import BAD_USE
from .layout import CliError, Layout
from .types import Options

PATHS = ("FILE", "PLACE", "FOLDER", "DIR")  # names of values in help that complete as paths
if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # no generic one before click 8.4

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@dataclass
class Asked:
    """The context of a command next to its options. command: the words after the first --."""

    layout: Layout
    command: list[str] = field(default_factory=list)


class Value(ParamType):
    """A value that a function reads from a text.  An error names the option."""

    name = "value"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):  # a default
            return value
        try:
            return self.parse(value)
        except validators.BadValue as error:
            raise CliError(f"{name_of(param)} {error}", BAD_USE) from error


class Choice(Value):
    def __init__(self, choices: Iterable[str]) -> None:
        super().__init__(self.one)
        self.choices = tuple(choices)

    def one(self, text: str) -> str:
        if text not in self.choices:
            raise validators.argument(text, ", ".join(self.choices))
        return text

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(one) for one in self.choices if one.startswith(incomplete)]


class Path(Value):
    """A path.  Only the command checks it."""

    def __init__(self) -> None:
        super().__init__(str)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


def type_of(type: Any, choices: Iterable[str], metavar: str | None) -> ParamType | None:
    if choices:
        return Choice(choices)
    if callable(type) and not isinstance(type, click.ParamType):
        return Value(type)
    is_path = metavar and any(word in metavar for word in PATHS)
    return Path() if type is None and is_path else type


def name_of(param: click.Parameter | None) -> str:
    """Returns the longest of a parameter's names, as users know the parameter."""
    if isinstance(param, Argument):
        return param.shown()
    return max(param.opts, key=len) if param else ""


class Argument(click.Argument):
    """A word without a name.  The help explains it like an option."""

    def __init__(self, name: str, help: str = "", choices: Iterable[str] = (), **more: Any) -> None:
        more["type"] = type_of(more.get("type"), choices, more.get("metavar"))
        super().__init__([name], **more)
        self.help = help

    def shown(self) -> str:
        return self.metavar or (self.name or "").upper()

    def make_metavar(self, *_ctx: Any) -> str:  # click 8.1 gives no context
        several = self.shown() + ("..." if self.nargs == -1 else "")
        return several if self.required else f"[{several}]"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        return self.shown(), self.help or ""


class Option(click.Option):
    """
    An option of a command. synonym_of: the name of the option that this option sets in another
    form.
    """

    def __init__(
        self, *names: str, choices: Iterable[str] = (), synonym_of: str = "", **more: Any
    ) -> None:
        if not more.get("is_flag"):
            more["type"] = type_of(more.get("type"), choices, more.get("metavar"))
        if choices and "metavar" not in more:
            more["metavar"] = f"[{'|'.join(choices)}]"
        super().__init__(list(names), **more)
        self.synonym_of = synonym_of


Main = Callable[[Options, list[str], Layout], int]


class Command(click.Command):
    """
    A command of huddle. laid_out: keep the lines of the epilog. takes_command: the words after --
    are a command of the user.
    """

    def __init__(
        self,
        run: Main,
        parameters: Sequence[click.Parameter],
        epilog: str = "",
        laid_out: bool = False,
        takes_command: bool = False,
    ) -> None:
        if laid_out:  # click keeps the lines of a paragraph that begins so
            epilog = "\n\n".join(f"\b\n{part}" for part in epilog.strip().split("\n\n"))
        super().__init__(
            None,
            params=list(parameters),
            epilog=epilog,
            options_metavar="[OPTIONS] [-- COMMAND...]" if takes_command else "[OPTIONS]",
            context_settings={**HELP, "allow_extra_args": True},
        )
        self.run, self.takes_command = run, takes_command
        self.allow_interspersed_args = not takes_command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            raise CliError(text_of(error, ctx), BAD_USE) from error
        if rest and not ctx.resilient_parsing:
            self.refuse(ctx, rest[0])
        return rest

    def refuse(self, ctx: click.Context, word: str) -> NoReturn:
        """Refuses a word that no option or argument takes."""
        import shutil

        path = ctx.command_path
        words = f"{path} {validators.shown(word)}".removeprefix("huddle ")
        if self.takes_command and shutil.which(word):
            raise CliError(
                f"{words}: -- is missing before the command (accepted: -- {word} ...)", BAD_USE
            )
        raise CliError(f"unexpected argument {validators.shown(word)}; see {path} --help", BAD_USE)

    def options_of(self, ctx: click.Context) -> Options:
        found = dict(ctx.params)
        for param in self.params:
            several = param.multiple or param.nargs == -1
            value = found[param.name or ""]
            found[param.name or ""] = list(value or ()) if several else value
            if isinstance(param, Option) and param.synonym_of:
                del found[param.name or ""]
                if value is not None:
                    found[param.synonym_of] = value
        return Options(**found)

    def options(self, words: Sequence[str]) -> Options:
        """Parses words into options without running the command."""
        return self.options_of(self.make_context(self.name or "huddle", list(words)))

    def invoke(self, ctx: click.Context) -> int:
        asked: Asked = ctx.obj
        return self.run(self.options_of(ctx), asked.command, asked.layout)


class Group(click.Group):
    """A group of commands.  Each is imported at first use: COMMAND of the module of its name."""

    def __init__(self, name: str, words: dict[str, str], package: str, **more: Any) -> None:
        """Stores `words`, the help of each command."""
        super().__init__(name, context_settings=dict(HELP), **more)
        self.words, self.package = words, package

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.words)

    def imported(self, _ctx: click.Context, name: str) -> click.Command:
        found: click.Command = importlib.import_module(f"{self.package}.{name}").COMMAND
        return found

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.words:
            return None
        found = self.imported(ctx, name)
        found.name, found.help = name, self.words[name]
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists them without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.words.items()))

    def invoke(self, ctx: click.Context) -> int:
        status: int = super().invoke(ctx)
        return status


def options_from(name: str, parameters: Sequence[click.Parameter], words: Sequence[str]) -> Options:
    """Parses the words of a command into options."""
    command = Command(lambda *_: 0, parameters)
    command.name = name
    return command.options(words)


def text_of(error: click.UsageError, ctx: click.Context | None = None) -> str:
    """Formats click's error in huddle's style."""
    path = ctx.command_path if ctx else "huddle"
    see = f"see {path} --help"
    if isinstance(error, click.NoSuchOption):
        hint = validators.hint(error.option_name, names_of(ctx), see)
        return f"{validators.shown(error.option_name)} is not an option of {path}; {hint}"
    if isinstance(error, click.BadOptionUsage):
        flags = [p for p in params_of(ctx) if isinstance(p, click.Option) and p.is_flag]
        is_flag = any(error.option_name in p.opts for p in flags)
        return (
            f"{error.option_name}: {'takes no value' if is_flag else 'the value is missing'}; {see}"
        )
    if isinstance(error, click.MissingParameter):
        return f"{name_of(error.param)} is missing; {see}"
    return f"{error.format_message()}; {see}"


def params_of(ctx: click.Context | None) -> list[click.Parameter]:
    return ctx.command.params if ctx else []


def names_of(ctx: click.Context | None) -> list[str]:
    return [name for param in params_of(ctx) for name in param.opts if name.startswith("-")]


def programs(_ctx: click.Context, _param: click.Parameter, word: str) -> list[CompletionItem]:
    """Completes the first word of a user's command."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    names = {name for folder in filter(os.path.isdir, folders) for name in os.listdir(folder)}
    return [CompletionItem(name) for name in sorted(names) if name.startswith(word)]
