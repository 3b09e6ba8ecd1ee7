# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the comparison of counted instructions with their record (instructions.py)."""

import unittest
from unittest import mock

import instructions

BUILD = "# GNU 12.2.0 x86_64 Release\n"
RECORD = f"# about\n{BUILD}bcast,8,400\nbcast,128,600\n"


class Comparison(unittest.TestCase):
    """Tests of a fake program with made-up counts."""

    def status(self, *outputs, build=BUILD):
        """
        Returns the exit status and the printed text for outputs of bench-instructions.  The last
        one is repeated.
        """
        left = list(outputs)
        with (
            mock.patch.object(instructions, "RECORD") as record,
            mock.patch.object(
                instructions,
                "run",
                lambda _, *words: (
                    build + ("" if words else left.pop(0) if len(left) > 1 else left[0])
                ),
            ),
            mock.patch("builtins.print") as printed,
        ):
            record.read_text.return_value = RECORD
            status = instructions.main("program")
        return status, "\n".join(call.args[0] for call in printed.call_args_list)

    def test_a_call_above_the_margin_fails(self):
        status, text = self.status("bcast,8,425\nbcast,128,600\n")
        self.assertEqual(1, status)
        self.assertIn("bcast, 8 B: 425 instructions, the record has 400", text)
        self.assertNotIn("128", text)

    def test_calls_within_the_margin_pass(self):
        status, text = self.status("bcast,8,424\nbcast,128,530\n")
        self.assertEqual(0, status)
        self.assertIn("bcast, 128 B: 530 instructions, fewer than the 600", text)

    def test_the_least_of_three_counts_is_compared(self):
        high, other = "bcast,8,425\nbcast,128,600\n", "bcast,8,424\nbcast,128,640\n"
        self.assertEqual(0, self.status(high, high, other)[0])
        self.assertEqual(1, self.status(high, high, high, other)[0])

    def test_reductions_of_more_bytes_have_a_wider_margin(self):
        record = f"# about\n{BUILD}allreduce,8,400\nallreduce,128,600\nallgather,128,600\n"
        for counts, status in (((424, 660, 636), 0), ((425, 600, 600), 1), ((400, 600, 637), 1)):
            eight, reduced, gathered = counts
            output = f"allreduce,8,{eight}\nallreduce,128,{reduced}\nallgather,128,{gathered}\n"
            with mock.patch(f"{__name__}.RECORD", record):
                self.assertEqual(status, self.status(output)[0])

    def test_calls_of_one_side_only_fail(self):
        status, text = self.status("bcast,8,400\nscan,8,10\n")
        self.assertEqual(1, status)
        self.assertIn("scan, 8 B: 10 instructions, not in the record", text)
        self.assertIn("bcast, 128 B: not counted", text)

    def test_another_compiler_is_skipped(self):
        for build, skipped in (
            ("# GNU 12.9.1 x86_64 Release\n", False),
            ("# GNU 13.2.0 x86_64 Release\n", True),
            ("# Clang 12.2.0 x86_64 Release\n", True),
            ("# GNU 12.2.0 aarch64 Release\n", True),
            ("# GNU 12.2.0 x86_64 Release -flto\n", True),
        ):
            with self.subTest(build=build):
                status, text = self.status("bcast,8,400\nbcast,128,600\n", build=build)
                self.assertEqual(77 if skipped else 0, status)
                self.assertEqual(skipped, text.startswith("skipped: the record is of GNU 12.2.0"))
