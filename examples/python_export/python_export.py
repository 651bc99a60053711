# SPDX-License-Identifier: Apache-2.0
"""An export script in Python.

Exports MODEL.pt2 for XNNPACK into FOLDER/NAME.pte and FOLDER/NAME.ptd, says
what was delegated, and runs the result once on ones:

    ./bazelw run //examples:python_export -- /path/to/model.pt2 /path/to/folder
"""

import os
import pathlib
import sys

import numpy
import petrel


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: python_export MODEL.pt2 FOLDER")
    # Paths are the user's, who is not where `bazel run` starts the script.
    start = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    model, folder = (start / argument for argument in sys.argv[1:])
    try:
        program = petrel.export(model, external_weights=f"{model.stem}.ptd")
        folder.mkdir(parents=True, exist_ok=True)
        program.save(folder / f"{model.stem}.pte")
        print(program.report(), end="")
        forward = petrel.load(folder / f"{model.stem}.pte",
                              data=[folder / f"{model.stem}.ptd"])["forward"]
        outputs = forward(*(numpy.ones(info.shape, info.dtype) for info in forward.inputs))
    except petrel.Error as error:
        sys.exit(f"python_export: {error}")
    for index, output in enumerate(outputs):
        print(f"output {index}: {output.dtype} {list(output.shape)}")


if __name__ == "__main__":
    main()
