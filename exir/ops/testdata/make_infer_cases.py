# SPDX-License-Identifier: Apache-2.0
"""Writes infer_cases.txt: calls of operators and what eager PyTorch gives.

Each case is a method in the text form of the IR whose result types are those
of the tensors that PyTorch returned. Run with torch 2.13:

    python make_infer_cases.py > infer_cases.txt
"""

import logging
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)

from infer.case import cases, failures  # noqa: E402
import infer.elementwise  # noqa: E402,F401
import infer.layout  # noqa: E402,F401
import infer.reductions  # noqa: E402,F401
import infer.networks  # noqa: E402,F401
import infer.indexing  # noqa: E402,F401
import infer.others  # noqa: E402,F401

print("".join(cases), end="")
print(f"{len(cases)} cases", file=sys.stderr)
for failure in failures:
    print(failure.split("\n")[0], file=sys.stderr)
