# SPDX-License-Identifier: Apache-2.0
"""Commands that must succeed."""

import os
import pathlib
import shutil
import subprocess

PETREL = pathlib.Path("extension/cli/petrel").absolute()
# The default planner searches for seconds in some models of the tests.
QUICK_PLAN = ["--planner", "orderings"]
# Before gen-c: modules are compiled for one level of x86-64; module_levels_test has the others.
ONE_LEVEL = ["env", "CC=gcc -mtune=generic"]
# `.ci/nightly` runs all combinations of what CI runs a handful of.
IS_NIGHTLY = "PETREL_NIGHTLY" in os.environ


def compiler_here(name):
    """That compiler, or gcc where it is not: only test/portable_c/compilers installs others."""
    return name if shutil.which(name) else "gcc"


def done(words, folder):
    result = subprocess.run([str(w) for w in words], cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: {result.returncode}\n"
                             f"{result.stdout}{result.stderr}")
    return result.stdout
