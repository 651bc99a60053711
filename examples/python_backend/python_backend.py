# SPDX-License-Identifier: Apache-2.0
"""Exports a model for the backend of this folder, and runs it with it.

    ./bazelw run //examples:python_backend -- /path/to/model.pt2

Inputs are ones. Says what was delegated, and how far the outputs are from those
of Petrel's own kernels.
"""

import os
import pathlib
import sys

import numpy
import petrel
from affine_backend import AffineBackend, AffineRuntime


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python_backend MODEL.pt2")
    # Paths are the user's, who is not where `bazel run` starts the script.
    model = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), sys.argv[1])
    program = petrel.export(model, backend=AffineBackend())
    print(program.report(), end="")
    forward = petrel.load(program, backends=[AffineRuntime()])["forward"]
    plain = petrel.load(petrel.export(model, backend=None))["forward"]
    inputs = [numpy.ones(info.shape, info.dtype) for info in forward.inputs]
    for mine, expected in zip(forward(*inputs), plain(*inputs)):
        print(f"largest difference {abs(mine - expected).max()}")


if __name__ == "__main__":
    main()
