# SPDX-License-Identifier: BSD-3-Clause
"""
Tests the loader in all kinds of processes.  Processes without an MPI run as without the loader, the
MPI that a program initialises is served, and another MPI is left unchanged and reported in one
line.
"""

import os
import re
import shutil
import subprocess
import sys

from processes import LOADER, MPIS, RECORDER, Built, WithMpi, huddle, lines, run


class WithoutMpi(Built):
    def test_programs_without_an_mpi_find_none(self):
        library = self.build("libasks.so", "asks.c", "-DLIBRARY")
        for name, words in (("pie", ()), ("fixed", ("-no-pie",)), ("now", ("-Wl,-z,now",))):
            program = self.build(name, "asks.c", *words)
            self.assertEqual("program: 00000 00\n", self.alike(program))
            found = self.alike(program, library)
            self.assertEqual("program: 00000 00\nlibrary: 00000 00\n", found)

    def test_libraries_without_an_mpi_find_none(self):
        library = self.build("libasks.so", "asks.c", "-DLIBRARY", "-Wl,-z,now")
        main = self.at("main.c")
        with open(main, "w", encoding="utf-8") as file:
            file.write('void ask(const char *); int main(void) { ask("library"); return 0; }\n')
        program = self.build("main", main, library, f"-Wl,-rpath,{self.folder}")
        self.assertEqual("library: 00000 00\n", self.alike(program))

    def test_constructors_without_an_mpi_find_none(self):
        library = self.build("libasks.so", "asks.c", "-DLIBRARY", "-DCONSTRUCTOR")
        with open(self.at("main.c"), "w", encoding="utf-8") as file:
            file.write("int main(void) { return 0; }\n")
        words = ("-Wl,--no-as-needed", library, f"-Wl,-rpath,{self.folder}")
        program = self.build("main", self.at("main.c"), *words)
        self.assertEqual("constructor: 00000 00\n", self.alike(program))

    def test_errors_of_dlsym(self):
        program = self.build("handles", "handles.c", "-pthread")
        self.assertEqual("1 1 1\n", self.alike(program, "error", "libm.so.6"))

    def test_with_statistics(self):
        program = self.build("program", "asks.c")
        answer = huddle("--stats", "--", program)
        self.assertEqual((0, "program: 00000 00\n"), (answer.returncode, answer.stdout))

    def test_programs_started_by_scripts(self):
        self.alike("sh", "-c", "echo out; echo error >&2; ls /proc/self/fd | wc -l; exit 4")
        self.alike("env", "-i", "/bin/echo", "nothing set")
        self.alike(
            sys.executable, "-c", "import ctypes, sys; print(ctypes.CDLL(None).getpid() > 0)"
        )
        self.alike(
            sys.executable,
            "-c",
            "import ctypes\ntry: ctypes.CDLL(None).MPI_Init\nexcept AttributeError: print('none')",
        )

    def test_dlopen_and_dlsym_see_their_caller(self):
        self.build("own/libmine.so", self.source("int mine(void) { return 1; }"))
        library = self.build(
            "libopens.so", "opens.c", "-DLIBRARY", "-Wl,-rpath,$ORIGIN/own,--enable-new-dtags"
        )
        program = self.build(
            "opens", "opens.c", "-fno-builtin", library, f"-Wl,-rpath,{self.folder}"
        )
        self.assertEqual("1 1005 no error\n", self.alike(program))

    def source(self, text):
        path = self.at(f"made{len(os.listdir(self.folder))}.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        return path

    def test_sanitizers_start(self):
        own = 'const char *__asan_default_options(void) { return "detect_leaks=0"; }\n'
        main = "int main(void) { return 3; }"
        for sanitizer, text in (
            ("address", main),
            ("address", own + main),
            ("undefined", main),
            ("thread", main),
        ):
            with self.subTest(sanitizer=sanitizer, text=text):
                source = self.source(text)
                program = source.removesuffix(".c")
                words = ("cc", f"-fsanitize={sanitizer}", "-o", program, source)
                made = subprocess.run(words, capture_output=True, check=False)
                if made.returncode != 0:
                    self.skipTest(f"cc has no -fsanitize={sanitizer} here")
                self.assertEqual("", self.alike(program))

    def test_old_c_libraries_have_every_symbol(self):
        """Checks that symbols are in glibc 2.17, and have not moved to another library since."""
        for library in (LOADER, RECORDER):
            answer = run("objdump", "-T", library)
            self.assertEqual(0, answer.returncode, answer.stderr)
            wanted = re.findall(r"\*UND\*\s+\S+\s+\(?(?:GLIBC_([\d.]+)\)?)\s+(\w+)", answer.stdout)
            self.assertGreater(len(wanted), 10)
            for version, name in wanted:
                with self.subTest(library=os.path.basename(library), name=name):
                    self.assertLessEqual([int(n) for n in version.split(".")], [2, 17])
                    self.assertNotRegex(name, "^dl(open|sym|vsym|error|addr1?|close)$")
            needed = run("objdump", "-p", library).stdout
            self.assertEqual({"libc.so.6"}, set(re.findall(r"NEEDED\s+(\S+)", needed)))


class MadeUpMpis(Built):
    """Tests of MPIs that no front end serves."""

    def mpi(self, name, *words):
        text = os.path.basename(name).split(".")[0]
        return self.build(name, "made_up.c", f'-DNAME="{text}"', *words)

    def test_mpis_without_front_end_are_reported_under_any_name(self):
        names = ("libmpi_cray.so.12", "libmpi.so.0", "libmpi.so", "libmpi_ibm.so.3", "libodd.so.7")
        for name in names:
            with self.subTest(name=name):
                library = self.mpi(name)
                program = self.build(
                    f"calls-{names.index(name)}",
                    "calls.c",
                    "-DLINKED",
                    library,
                    f"-Wl,-rpath,{self.folder}",
                )
                alone, served = run(program), huddle(program)
                self.assertEqual((alone.returncode, alone.stdout), (0, served.stdout))
                self.assertEqual(1, len(lines(served)), served.stderr)
                self.assertIn(f"no front end for {name}", served.stderr)
                self.assertEqual("", huddle(program, HUDDLE="off").stderr)
                words = ("-Wl,--no-as-needed", library, f"-Wl,-rpath,{self.folder}")
                tool = self.build("libnext.so", "tool_next.c", *words)
                watched = huddle("env", f"LD_PRELOAD={LOADER}:{tool}", program)
                self.assertEqual(1, len(lines(watched)), watched.stderr)
                ended = huddle(program, HUDDLE="require")
                self.assertNotEqual(0, ended.returncode)
                self.assertNotIn("sum", ended.stdout)
                self.assertIn("HUDDLE=require ends", ended.stderr)

    def test_the_standard_abi_is_reported_under_each_name(self):
        for number in ("0", "1", "12"):
            library = self.mpi(f"libmpi_abi.so.{number}")
            program = self.build(
                f"calls{number}", "calls.c", "-DLINKED", library, f"-Wl,-rpath,{self.folder}"
            )
            answer = huddle(program)
            self.assertEqual(1, len(lines(answer)), answer.stderr)
            self.assertIn("standard ABI", answer.stderr)

    def test_long_versions_are_cut(self):
        library = self.mpi("libmpi.so.40")
        program = self.build("calls", "calls.c", "-DLINKED", library, f"-Wl,-rpath,{self.folder}")
        for options in ((), ("--stats",)):
            answer = huddle(*options, "--", program)
            self.assertEqual(0, answer.returncode, answer.stderr)
            self.assertIn("sum 1", answer.stdout)
            self.assertRegex(answer.stderr, "huddle: libmpi 1.2: no front end")

    def test_handles_behave_as_without_huddle(self):
        first, second = self.mpi("libfirst.so.1"), self.mpi("libsecond.so.1")
        program = self.build("handles", "handles.c", "-pthread")
        plugin = self.build("plugin.so", "calls.c", "-DLIBRARY", first, f"-Wl,-rpath,{self.folder}")
        for words in (
            ("closed", first, second),
            ("closed", first, first),
            ("namespace", first),
            ("unloaded", plugin),
        ):
            alone, served = run(program, *words), huddle(program, *words)
            self.assertEqual((0, alone.stdout), (served.returncode, served.stdout), words)
        for _ in range(50):
            self.assertEqual("1\n", huddle(program, "threads", first).stdout)

    def test_each_opened_library_calls_its_own_mpi(self):
        """
        Checks that each library calls its own MPI, even if both are loaded before either is called.
        """
        parts = []
        for name in ("first", "second"):
            mpi = self.mpi(f"lib{name}.so.1")
            parts.append(
                self.build(
                    f"{name}-part.so", "calls.c", "-DLIBRARY", mpi, f"-Wl,-rpath,{self.folder}"
                )
            )
        program = self.build("program", "calls.c")
        for order in (parts, parts[::-1], parts + parts):
            alone, served = run(program, *order), huddle(program, *order)
            self.assertEqual((0, alone.stdout), (served.returncode, served.stdout), served.stderr)

    def test_a_second_mpi_changes_no_results(self):
        linked, other = self.mpi("liblinked.so.1"), self.mpi("libother.so.1")
        path = f"-Wl,-rpath,{self.folder}"
        program = self.build("program", "calls.c", "-DLINKED", linked, path)
        part = self.build("part.so", "calls.c", "-DLIBRARY", other, path)
        for words in ((), (part,)):
            alone, served = run(program, *words), huddle(program, *words)
            self.assertEqual((0, alone.stdout), (served.returncode, served.stdout), served.stderr)


class RealMpis(WithMpi):
    def test_linked_programs_have_both_kinds_of_statistics(self):
        for launch, program, _ in self.each("sums", "sums.c"):
            self.serves(huddle("--stats", "--", *launch, program))
            self.serves(huddle(*launch, program, HUDDLE_STATS="1"))

    def test_programs_that_open_their_mpi_are_served(self):
        program = self.build("opens", "sums.c", "-DOPENS")
        for _, launcher, library in MPIS:
            for flags in range(8):
                with self.subTest(library=library, flags=flags):
                    if flags & 4 and not flags & 1:
                        continue
                    words = (*launcher, "2", program, library, str(flags))
                    self.serves(huddle("--stats", "--", *words, HUDDLE="require"))

    def test_dladdr_names_the_library_of_the_mpi(self):
        for launch, program, library in self.each("asks", "sums.c", "-DASKS"):
            output = huddle(*launch, program).stdout
            self.assertRegex(output, rf"in {library}[\d.]*, P?MPI_Init\n")
            self.assertEqual(run(*launch, program).stdout, output)

    def test_profiling_tools_see_every_call_and_huddle_too(self):
        for compiler, launcher, _ in MPIS:
            tool = self.build(f"libtool-{compiler}.so", "tool.c", compiler=compiler)
            plain = self.build(f"plain-{compiler}", "sums.c", compiler=compiler)
            linked = self.build(
                f"linked-{compiler}",
                "sums.c",
                "-Wl,--no-as-needed",
                tool,
                f"-Wl,-rpath,{self.folder}",
                compiler=compiler,
            )
            unlinked = self.build(f"libnext-{compiler}.so", "tool_next.c")
            for program, order in (
                (linked, ""),
                (plain, "{0}:{1}"),
                (plain, "{1}:{0}"),
                (plain, "{1}:{2}"),
                (plain, "{2}:{1}"),
            ):
                for options in ((), ("--stats",)):
                    preload = (
                        ("env", "LD_PRELOAD=" + order.format(tool, LOADER, unlinked))
                        if order
                        else ()
                    )
                    with self.subTest(mpi=compiler, order=order, options=options):
                        words = ("--", *launcher, "2", *preload, program)
                        answer = huddle(*options, *words, HUDDLE_STATS="" if options else "1")
                        self.serves(answer)
                        self.assertIn("tool: 100\n", answer.stdout)

    def test_a_translator_is_served_through_the_mpi_that_it_opens(self):
        if not shutil.which("mpiexec.mpich"):
            self.skipTest("no MPICH here")
        for number, lazy in enumerate(((), ("-DLAZY",))):
            library = self.build(
                f"libmpi_abi.so.{number}",
                "made_up.c",
                '-DNAME="translator"',
                '-DLOWER="libmpich.so.12"',
                *lazy,
            )
            program = self.build(
                f"calls{number}", "calls.c", "-DLINKED", library, f"-Wl,-rpath,{self.folder}"
            )
            words = ("mpiexec.mpich", "-n", "2", program)
            for options, more in (((), {"HUDDLE_STATS": "1"}), (("--stats",), {})):
                answer = huddle(*options, "--", *words, HUDDLE="require", **more)
                self.assertEqual(0, answer.returncode, answer.stderr)
                self.assertEqual(2, answer.stdout.count("sum 2\n"), answer.stdout)
                self.assertRegex(answer.stderr + answer.stdout, r"allreduce +6 +6 ")
            # the other ranks know that a rank has no huddle
            rank = f"[ $PMI_RANK = 1 ] && unset LD_PRELOAD; exec {program}"
            answer = huddle(*words[:3], "sh", "-c", rank)
            self.assertEqual(0, answer.returncode, answer.stderr)
            self.assertEqual(2, answer.stdout.count("sum 2\n"), answer.stdout)

    def test_opening_another_mpi_does_not_change_which_is_served(self):
        if len(MPIS) < 2:
            self.skipTest("one MPI here")
        for (compiler, launcher, _), (_, _, other) in zip(MPIS, MPIS[::-1]):
            program = self.build(f"looks-{compiler}", "sums.c", "-DLOOKS", compiler=compiler)
            words = (*launcher, "2", program, other)
            self.serves(huddle("--stats", "--", *words, HUDDLE="require"))

    def test_an_excluded_component_is_reported(self):
        if not shutil.which("mpirun.openmpi"):
            self.skipTest("no Open MPI here")
        program = self.build("sums", "sums.c", compiler="mpicc.openmpi")
        words = ("mpirun.openmpi", "--oversubscribe", "--mca", "coll", "^huddle", "-np", "2")
        answer = huddle(*words, program)
        self.assertEqual(1, len(lines(answer)), answer.stderr)
        self.assertIn("sum 3", answer.stdout)
        self.assertNotEqual(0, huddle(*words, program, HUDDLE="require").returncode)

    def test_a_preferred_component_is_reported(self):
        if not shutil.which("mpirun.openmpi"):
            self.skipTest("no Open MPI here")
        program = self.build("sums", "sums.c", compiler="mpicc.openmpi")
        words = ("mpirun.openmpi", "--oversubscribe", "--mca", "coll_tuned_priority", "71")
        answer = huddle(*words, "-np", "2", program, HUDDLE="require")
        self.assertEqual((0, "sum 3\n"), (answer.returncode, answer.stdout), answer.stderr)
        (line,) = lines(answer)
        self.assertRegex(line, r"component tuned has a higher priority .*\(70\).* allreduce")

    def test_a_process_that_never_initialises_its_mpi_is_not_a_rank(self):
        for launch, program, _ in self.each("sums", "sums.c"):
            compiler = os.path.basename(program)[len("sums-") :]
            idle = self.build(f"idle-{compiler}", "idle.c", compiler=compiler)
            rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
            for script in (
                f"{idle}; exec {program}",
                f"{idle} 3 & exec {program}",
                f"{idle} 3 & sleep .3; [ {rank} = 1 ] && unset LD_PRELOAD; exec {program}",
                f"{idle} 3 t & sleep .3; [ {rank} = 1 ] && unset LD_PRELOAD; exec {program}",
            ):
                answer = huddle(*launch, "sh", "-c", script, HUDDLE_STATS="1")
                self.assertEqual(0, answer.returncode, answer.stderr)
                self.assertIn("sum 3", answer.stdout)
                if "unset" not in script:
                    self.serves(answer)

    def test_launchers_of_another_mpi_are_reported(self):
        if len(MPIS) < 2:
            self.skipTest("one MPI here")
        tried = 0
        for (compiler, _, _), (_, launcher, _) in zip(MPIS, MPIS[::-1]):
            program = self.build(f"sums-{compiler}", "sums.c", compiler=compiler)
            words = (*launcher, "2", program)
            if "sum 1" not in run(*words).stdout:
                continue  # this pair works, or it fails without huddle too
            tried += 1
            with self.subTest(program=compiler):
                answer = huddle(*words)
                self.assertEqual(1, len(lines(answer)), answer.stderr)
                self.assertIn("the launcher has started 2", answer.stderr)
                ended = huddle(*words, HUDDLE="require")
                self.assertNotEqual(0, ended.returncode)
                self.assertNotIn("sum", ended.stdout)
        self.assertGreater(tried, 0, "no pair starts jobs of one rank")

    def test_a_program_without_a_launcher(self):
        for _, program, _ in self.each("sums", "sums.c"):
            answer = huddle(program)
            self.assertEqual((0, "sum 1\n"), (answer.returncode, answer.stdout), answer.stderr)
            self.assertEqual(1, len(lines(answer)), answer.stderr)
            self.assertIn("MPI_COMM_WORLD has one rank", answer.stderr)
            # a batch script's shell has this variable
            answer = huddle(program, SLURM_NTASKS="64", HUDDLE="require")
            self.assertEqual((0, "sum 1\n"), (answer.returncode, answer.stdout), answer.stderr)
