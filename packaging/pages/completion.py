# SPDX-License-Identifier: BSD-3-Clause
"""
Completion for bash, zsh and fish, from the parser: commands, options, their choices, files, names
of settings.  After -- the words are the user's command, and complete as that.
"""

SETTING = "NAME=VALUE"


def all_options(command):
    return [option for _, options in command.groups for option in options]


def flagged(command):
    return [option for option in all_options(command) if option.flags]


def positional(command):
    """Choices of arguments without a flag."""
    return [choice for o in all_options(command) if not o.flags for choice in o.choices]


def first(text):
    """What fits next to an option in a menu."""
    return text.partition(";")[0].partition(" (default")[0].strip()


# ---- bash ----

BASH = """\
# SPDX-License-Identifier: BSD-3-Clause
# bash completion of huddle; written from its parser when huddle was built.
_huddle()
{{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    local command=${{COMP_WORDS[1]-}} at offered=
    COMPREPLY=()
    for ((at = 1; at < COMP_CWORD; at++)); do
        [[ ${{COMP_WORDS[at]}} == -- ]] || continue
        if declare -F _command_offset >/dev/null; then
            _command_offset $((at + 1))
        elif ((at + 1 == COMP_CWORD)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        return
    done
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "{commands}" -- "$word")
        return
    fi
    case "$command $before" in
{values}    esac
    case "$command" in
{options}    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "$arguments" -- "$word"; compgen -f -- "$word")
    fi
}}
complete -o filenames -F _huddle huddle
"""
BASH = BASH.replace("at offered=", "at offered= arguments=")


def bash_values(command, option, settings):
    names = "|".join(f"'{command.name} {flag}'" for flag in option.flags)
    if option.choices:
        found = f'compgen -W "{" ".join(option.choices)}" -- "$word"'
    elif option.value == SETTING and settings:
        found = f'compgen -W "{" ".join(settings)}" -S = -- "$word"'
    elif option.is_file:
        found = 'compgen -f -- "$word"'
    else:
        found = ":"
    more = "compopt -o nospace 2>/dev/null; " if "-S =" in found else ""
    return f"    {names}) {more}mapfile -t COMPREPLY < <({found}); return ;;\n"


def bash(_description, own, commands, settings):
    values = "".join(
        bash_values(command, option, settings if option.flags == ("--set",) else ())
        for command in commands
        for option in flagged(command)
        if option.value and not option.optional
    )
    options = "".join(
        f"    {command.name}) offered='{' '.join(f for o in flagged(command) for f in o.flags)}'"
        f" arguments='{' '.join(positional(command))}' ;;\n"
        for command in commands
    )
    words = [command.name for command in commands] + [flag for o in own for flag in o.flags]
    return BASH.format(commands=" ".join(words), values=values, options=options)


# ---- zsh ----

ZSH = """\
#compdef huddle
# SPDX-License-Identifier: BSD-3-Clause
# zsh completion of huddle; written from its parser when huddle was built.
_huddle() {{
    local at=${{words[(i)--]}}
    if ((at < CURRENT)); then
        words=("${{(@)words[at + 1, -1]}}")
        ((CURRENT -= at))
        _normal
        return
    fi
    if ((CURRENT == 2)); then
        local -a commands=(
{commands}        )
        _describe -t commands 'command of huddle' commands
        _arguments {own}
        return
    fi
    local command=${{words[2]}}
    words=("${{(@)words[2, -1]}}")
    ((CURRENT -= 1))
    case $command in
{cases}    esac
}}
_huddle "$@"
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_text(text):
    return text.replace("\\", "\\\\").replace("[", "(").replace("]", ")").replace(":", "\\:")


def zsh_option(flag, option, settings):
    spec = f"*{flag}[{zsh_text(first(option.help))}]"
    if option.value:
        name = zsh_text(option.value)
        if option.choices:
            action = f"({' '.join(option.choices)})"
        elif settings:
            action = f"compadd -S= {' '.join(settings)}"
            action = "{" + action + "}"
        else:
            action = "_files" if option.is_file else " "
        spec += f"{'::' if option.optional else ':'}{name}:{action}"
    return quoted(spec)


def zsh(_description, own, commands, settings):
    cases = []
    for command in commands:
        specs = [
            zsh_option(flag, option, settings if flag == "--set" else ())
            for option in flagged(command)
            for flag in option.flags
        ]
        choices = positional(command)
        specs.append(quoted(f"*:argument:({' '.join(choices)})") if choices else "'*: :_files'")
        lines = " \\\n            ".join(specs)
        cases.append(f"    {command.name})\n        _arguments \\\n            {lines} ;;\n")
    listed = "".join(
        f"            {quoted(one.name + ':' + zsh_text(first(one.help)))}\n" for one in commands
    )
    options = " ".join(zsh_option(flag, option, ()) for option in own for flag in option.flags)
    return ZSH.format(commands=listed, own=options, cases="".join(cases))


# ---- fish ----

FISH = """\
# SPDX-License-Identifier: BSD-3-Clause
# fish completion of huddle; written from its parser when huddle was built.
function __huddle_is
    set -l words (commandline -opc)
    not contains -- -- $words; and test (count $words) -ge 2; and test $words[2] = $argv[1]
end
function __huddle_first
    test (count (commandline -opc)) -eq 1
end
function __huddle_after
    contains -- -- (commandline -opc)
end
function __huddle_rest
    set -l words (commandline -opc)
    set -l at (math (contains -i -- -- $words) + 1)
    complete -C (string join ' ' -- $words[$at..] (commandline -ct))
end
complete -c huddle -n __huddle_first -f
complete -c huddle -n __huddle_after -xa '(__huddle_rest)'
"""


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_flag(flag):
    if flag.startswith("--"):
        return f"-l {flag[2:]}"
    return f"-s {flag[1:]}" if len(flag) == 2 else f"-o {flag[1:]}"


def fish_option(condition, option, settings):
    words = [f"complete -c huddle -n '{condition}'", *map(fish_flag, option.flags)]
    values = option.choices or tuple(f"{name}=" for name in settings)
    if option.value and not option.optional:
        words.append("-r -F" if option.is_file else "-x")
    if option.value and values:
        words.append(f"-a {fish_quoted(' '.join(values))}")
    words.append(f"-d {fish_quoted(first(option.help))}")
    return " ".join(words) + "\n"


def fish(_description, own, commands, settings):
    out = [FISH]
    out += [fish_option("__huddle_first", option, ()) for option in own]
    for command in commands:
        told = fish_quoted(first(command.help))
        out.append(f"complete -c huddle -n __huddle_first -a {command.name} -d {told}\n")
        here = f"__huddle_is {command.name}"
        for option in flagged(command):
            names = settings if option.flags == ("--set",) else ()
            out.append(fish_option(here, option, names))
        if choices := positional(command):
            out.append(f"complete -c huddle -n '{here}' -a {fish_quoted(' '.join(choices))}\n")
    return "".join(out)


def scripts(description, own, commands, settings):
    """{file name: text}; the names are those that each shell looks for."""
    write = {"huddle": bash, "_huddle": zsh, "huddle.fish": fish}
    return {name: how(description, own, commands, settings) for name, how in write.items()}
