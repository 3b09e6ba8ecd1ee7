# SPDX-License-Identifier: BSD-3-Clause
"""Lines about bad settings, of the library's answer about settings."""


def lines(answer):
    """None where all are good."""
    if not answer["error"]:
        return []
    return [f"{answer['error']}: huddle handles no calls", *answer["more_errors"]]
