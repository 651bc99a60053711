# SPDX-License-Identifier: Apache-2.0
"""Writes an archive of torch.export.save as a LiteRT file.

  to_tflite.py MODEL.pt2 OUT.tflite
"""

import contextlib
import sys

import litert_torch
import torch
import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401  archives name its operators


def main() -> None:
    program = torch.export.load(sys.argv[1])
    inputs, by_name = program.example_inputs
    with contextlib.redirect_stdout(sys.stderr):
        litert_torch.convert(program.module(), inputs, by_name or None).export(sys.argv[2])


if __name__ == "__main__":
    main()
