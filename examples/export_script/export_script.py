# SPDX-License-Identifier: Apache-2.0
"""The way of the quickstart as an export script.

Exports MODEL.pt2 for XNNPACK into FOLDER/NAME.pte and FOLDER/NAME.ptd, says
what was delegated, and runs the result once on ones:

    ./bazelw run //examples:export_script -- /path/to/model.pt2 /path/to/folder

Needs nothing but Python itself: the compiler is the petrel command.
"""

import json
import os
import pathlib
import subprocess
import sys

PETREL = pathlib.Path("extension/cli/petrel")


def petrel(*arguments: str) -> str:
    """Standard output of `petrel ARGUMENTS`; ends the script when it fails."""
    done = subprocess.run([PETREL, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: export_script MODEL.pt2 FOLDER")
    # Paths are the user's, who is not where `bazel run` starts the script.
    start = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    model, folder = (start / argument for argument in sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / f"{model.stem}.pte"
    weights = folder / f"{model.stem}.ptd"

    report = json.loads(petrel("export", str(model), "-o", str(program),
                               "--external-weights", str(weights), "--json"))
    for method in report["methods"]:
        for part in method["delegated"]:
            print(f"{method['name']}: {part['nodes']} nodes to {part['backend']} "
                  f"in {part['partitions']} partition(s)")
        for node in method["not_delegated"]:
            print(f"{method['name']}: {node['node']} ({node['op']}) stays: {node['reason']}")
    print(petrel("run", str(program), "--data", str(weights)), end="")


if __name__ == "__main__":
    main()
