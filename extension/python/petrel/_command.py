# SPDX-License-Identifier: Apache-2.0
"""The command `petrel` as this package brings it."""

import os
import pathlib
import sys


def main() -> None:
    command = pathlib.Path(__file__).parent / "petrel"
    if not command.is_file():
        sys.exit(f"{command} is not there: only the package's wheel brings the command")
    os.execv(str(command), ["petrel", *sys.argv[1:]])
