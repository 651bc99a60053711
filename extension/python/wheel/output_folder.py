# SPDX-License-Identifier: Apache-2.0
"""Where a tool that `bazel run` starts writes its files: the user's --output-dir.

    folder = output_folder.from_arguments("Writes the SDK.")
"""

import argparse
import os
import pathlib


def from_arguments(description: str) -> pathlib.Path:
    """The folder, made if it is not there."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--output-dir", required=True, help="folder, made if it is not there")
    arguments = parser.parse_args()
    # Paths are the user's, who is not where `bazel run` starts the program.
    start = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    folder = start / arguments.output_dir
    folder.mkdir(parents=True, exist_ok=True)
    return folder
