# SPDX-License-Identifier: Apache-2.0
"""Writes an archive of torch.export.save as an ONNX file.

  to_onnx.py MODEL.pt2 OUT.onnx
"""

import contextlib
import sys

import torch
import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401  archives name its operators


def main() -> None:
    program = torch.export.load(sys.argv[1])
    with contextlib.redirect_stdout(sys.stderr):
        onnx = torch.onnx.export(program, dynamo=True, verbose=False)
        onnx.save(sys.argv[2])


if __name__ == "__main__":
    main()
