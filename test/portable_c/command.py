# SPDX-License-Identifier: Apache-2.0
"""Commands that must succeed."""

import pathlib
import subprocess

PETREL = pathlib.Path("extension/cli/petrel").absolute()


def done(words, folder):
    result = subprocess.run([str(w) for w in words], cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: {result.returncode}\n"
                             f"{result.stdout}{result.stderr}")
    return result.stdout
