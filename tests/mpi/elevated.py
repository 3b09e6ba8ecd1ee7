# SPDX-License-Identifier: BSD-3-Clause
"""
Tests programs that run with more rights than the user who starts them: set-user-ID, set-group-ID,
file capabilities.  huddle must be inactive in them.

    elevated.py --build BUILD

The loader is preloaded by /etc/ld.so.preload and libhuddle found by the cache of the dynamic
linker, as in an administrator's installation, in a mount namespace of the test's own.  A user
without rights starts each program with HUDDLE_* set.  A plain copy must write the statistics, and
one of several ranks must look for what was learned, since huddle is active.  The others must write
no file and print no line, and must look for no file of huddle's except the loader itself.
"""

import argparse
import glob
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

from wrappers import NotHere, need, works

NOBODY = 65534
# cap_net_raw, permitted and effective; see include/uapi/linux/capability.h, version 2.
CAPABILITY = struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0)


def set_user(path):
    os.chmod(path, 0o4755)


def set_group(path):
    os.chmod(path, 0o2755)


def capability(path):
    os.setxattr(path, "security.capability", CAPABILITY)


KINDS = {
    "plain": lambda path: None,
    "set-user-ID": set_user,
    "set-group-ID": set_group,
    "capability": capability,
}
# Program, its arguments, and the files of huddle that it may open: team is linked to libhuddle
# itself.
PROGRAMS = {
    "openmpi": (
        "tests/mpi/openmpi/differential",
        ["--brief", "--most", "1000"],
        r"libhuddle-loader\.so",
    ),
    "mpich": (
        "tests/mpi/mpich/differential",
        ["--brief", "--most", "1000"],
        r"libhuddle-loader\.so",
    ),
    "team": ("examples/team", ["2", "20"], r"libhuddle-loader\.so|libhuddle\.so"),
}


def install(build, folder):
    """
    Installs libraries readable by every user, and an /etc that preloads the loader in every
    process.
    """
    lib = os.path.dirname(glob.glob(os.path.join(build, "lib*", "libhuddle.so"))[0])
    shutil.copytree(
        lib,
        os.path.join(folder, "lib"),
        symlinks=True,
        ignore=shutil.ignore_patterns("*.a", "pkgconfig"),
    )
    subprocess.run(["cp", "-a", "/etc", os.path.join(folder, "etc")], check=True)
    with open(os.path.join(folder, "etc", "ld.so.conf.d", "huddle.conf"), "w") as file:
        file.write(os.path.join(folder, "lib") + "\n")
    with open(os.path.join(folder, "preload"), "w") as file:
        file.write(os.path.join(folder, "lib", "huddle", "libhuddle-loader.so") + "\n")
    for name in ("out", "home"):
        os.mkdir(os.path.join(folder, name))
        os.chmod(os.path.join(folder, name), 0o777)


def run(folder, command):
    """
    Runs the command as nobody, with the loader.  Returns its output, the opened files, and whether
    the statistics were written.
    """
    statistics, trace = os.path.join(folder, "out", "stats.json"), os.path.join(folder, "trace")
    for path in (statistics, trace):
        if os.path.exists(path):
            os.remove(path)
    inside = (
        f"mount --bind {folder}/etc /etc && ldconfig -X -i && cp {folder}/preload"
        " /etc/ld.so.preload && "
        f'exec strace -f --seccomp-bpf -u nobody -e trace=file -o {trace} "$@"'
    )
    env = {
        "PATH": os.environ["PATH"],
        "HOME": os.path.join(folder, "home"),
        "HUDDLE_STATS": "json:" + statistics,
        "HUDDLE_LOG": "debug",
        "HUDDLE_WISDOM": "on",
        "HUDDLE_JOB": "x" * 16,
    }
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", inside, "elevated", *command],
        cwd=os.path.join(folder, "out"),
        env=env,
        timeout=120,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with open(trace) as file:
        started = file.read().split("execve(\"" + command[0], 1)
    return done, started[1] if len(started) == 2 else "", os.path.exists(statistics)


def complaints(name, kind, allowed, build, done, trace, statistics):
    lines = [line for line in done.stdout.splitlines() if "huddle: " in line]
    opened = [
        path
        for path in re.findall(r'"([^"]*)"', trace)
        if "huddle" in path.removeprefix(build) and not re.search(allowed, path)
    ]
    if "libhuddle-loader.so" not in trace:
        yield "the loader was not preloaded"
    if kind == "plain":
        if not statistics or done.returncode != 0:
            yield (
                f"a plain program: exit status {done.returncode}, statistics"
                f" {'' if statistics else 'not '}written"
            )
        if name == "team" and "/huddle/wisdom-" not in trace:
            yield "a plain program: it did not look for what was learned"
        return
    if statistics or "stats.json" in trace:
        yield "statistics were written"
    yield from (f"a line: {line}" for line in lines)
    yield from (f"looked for {path}" for path in sorted(set(opened)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", required=True)
    build = os.path.abspath(parser.parse_args().build)
    failed = 0
    try:
        if os.geteuid() != 0:
            raise NotHere("only root can make such programs")
        for tool in ("unshare", "strace", "ldconfig"):
            need(tool)
        works("unshare", "--mount", "true")
        works("unshare", "--mount", "strace", "-u", "nobody", "-o", "/dev/null", "true")
        with tempfile.TemporaryDirectory(prefix="elevated-") as folder:
            if os.statvfs(folder).f_flag & os.ST_NOSUID:
                raise NotHere(f"{folder} is mounted nosuid")
            os.chmod(folder, 0o755)
            install(build, folder)
            for name, (program, words, allowed) in PROGRAMS.items():
                if not os.path.exists(os.path.join(build, program)):
                    print(f"{name:8} skipped: {program} was not built")
                    continue
                for kind, mark in KINDS.items():
                    copy = os.path.join(folder, name + "-" + kind)
                    shutil.copyfile(os.path.join(build, program), copy)
                    os.chmod(copy, stat.S_IRWXU | 0o055)
                    mark(copy)
                    done, trace, statistics = run(folder, [copy, *words])
                    bad = list(complaints(name, kind, allowed, build, done, trace, statistics))
                    print(f"{name:8} {kind:14} {'FAILED' if bad else 'ok'}", flush=True)
                    for line in bad + (done.stdout.splitlines()[-10:] if bad else []):
                        print("    " + line)
                    failed += bool(bad)
    except NotHere as why:
        print(f"skipped: {why}")
        sys.exit(77)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
