#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that drive.py requires a rank to die in the intended call."""

import unittest

import drive


class InCall(unittest.TestCase):
    def fault(self, **answer):
        return drive.in_call({"fault": "", "struck": True, "call": 8, **answer}, 8)["fault"]

    def test_there(self):
        self.assertEqual(self.fault(), "")

    def test_elsewhere(self):
        self.assertIn("in call 7, not in call 8", self.fault(call=7))

    def test_not_at_all(self):
        self.assertIn("in none", self.fault(struck=False))

    def test_another_fault_stays(self):
        self.assertEqual(self.fault(fault="it hangs", call=7), "it hangs")
