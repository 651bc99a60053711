# SPDX-License-Identifier: Apache-2.0
"""Writes out_variants.txt: the kernels that the ExecuTorch wheel registers,
each with the names of its arguments and the number of its out tensors. Run
with torch 2.13 and executorch 1.5:

    python make_out_variants.py > out_variants.txt
"""

import logging
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)

import executorch.kernels.quantized  # noqa: E402,F401
import torch  # noqa: E402
from executorch.extension.pybindings import portable_lib  # noqa: E402

for name in sorted(portable_lib._get_operator_names()):
    base, _, overload = name.partition(".")
    try:
        schema = torch._C._get_schema(base, overload)
    except RuntimeError:
        continue
    outs = [a.name for a in schema.arguments if a.is_out]
    if not outs:
        continue
    names = [a.name for a in schema.arguments if not a.is_out]
    print(name, len(outs), *names)
