# SPDX-License-Identifier: BSD-3-Clause
"""Runs one rank of mpi4py's test suite.

    suite_rank.py FOLDER MAIN [ARGUMENTS of MAIN...]      MAIN: test/main.py of the source
    distribution

Appends a line for each test to FOLDER/RANK: its outcome and its name.
"""

import os
import sys
import unittest


def result_class(file):
    class Result(unittest.TextTestResult):
        def note(self, word, test):
            file.write(f"{word} {test.id()}\n")
            file.flush()

        def addSuccess(self, test):
            self.note("passed", test)

        def addSkip(self, test, reason):
            self.note("skipped", test)

        def addFailure(self, test, error):
            super().addFailure(test, error)
            self.note("failed", test)

        def addError(self, test, error):
            super().addError(test, error)
            self.note("failed", test)

        def addExpectedFailure(self, test, error):
            self.note("failed-as-expected", test)

        def addUnexpectedSuccess(self, test):
            self.note("passed-unexpectedly", test)

        def addSubTest(self, test, subtest, error):
            if error is not None:
                super().addSubTest(test, subtest, error)
                self.note("failed", test)

    return Result


def main(folder, script, *arguments):
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(script))
    import main as suite
    from mpi4py import MPI

    with open(os.path.join(folder, str(MPI.COMM_WORLD.Get_rank())), "w") as file:
        suite.main(
            module=None,
            argv=[script, *arguments],
            testRunner=unittest.TextTestRunner(verbosity=0, resultclass=result_class(file)),
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
