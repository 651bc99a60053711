# SPDX-License-Identifier: Apache-2.0
"""Runs a program for its output.

  text = command(petrel, "export", model, "-o", pte)   # raises Failed
"""

import pathlib
import subprocess

TIMEOUT_S = 900


class Failed(Exception):
    """Why a row of a table failed, in one line."""


def command(*words: object) -> str:
    """The output, or Failed with the first line of complaint."""
    program = pathlib.Path(str(words[0])).name
    try:
        done = subprocess.run(
            [str(w) for w in words], capture_output=True, text=True, timeout=TIMEOUT_S
        )
    except OSError as error:
        raise Failed(str(error)) from None
    except subprocess.TimeoutExpired:
        raise Failed(f"{program} did not end in {TIMEOUT_S} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if not line.startswith(("I ", "D "))] or lines
        # Python tells the reason last.
        why = errors[-1] if "Traceback (most recent call last):" in errors else errors[:1]
        raise Failed(f"{program} ended with {done.returncode}: {''.join(why) or 'no message'}")
    return done.stdout
