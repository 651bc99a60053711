# SPDX-License-Identifier: Apache-2.0
"""Writes the files of cases/ anew: what eager PyTorch computes, for tests.

    python3 test/eager/record.py                      all files
    python3 test/eager/record.py kernels passes       these

Needs torch 2.13.0, and executorch 1.5.0, torchao 0.18.0 and transformers 5.23.0 for operators of
theirs.

    inference       calls whose result types are known   exir/ops/infer_test
    out_variants    kernels of the ExecuTorch wheel      exir/ops/out_variant_test
    passes          traced functions                     exir/pass/eager_test
    kernels         calls of out-variants                runtime/kernels/*/kernels_test
    xnnpack         graphs that are delegated            test/xnnpack/operators_test
    norms           the same, of normalisations          test/xnnpack/operators_test
    integers        the same between levels of int8      test/xnnpack/integers_test
    int8            random calls between such levels     exir/integer/random_test
"""

import importlib
import logging
import os
import sys
import warnings

FILES = ("inference", "out_variants", "passes", "kernels", "xnnpack", "norms", "integers",
         "int8")
TORCH = "2.13.0"
LIMIT = 1000000  # bytes


def main(names):
    unknown = sorted(set(names) - set(FILES))
    if unknown:
        sys.exit("not a file of cases: %s; there are %s" % (", ".join(unknown), ", ".join(FILES)))
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    import torch
    if torch.__version__.partition("+")[0] != TORCH:
        sys.exit("torch is %s, must be %s" % (torch.__version__, TORCH))
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")
    for name in names or FILES:
        text = importlib.import_module(name).record().text()
        if len(text) > LIMIT:
            sys.exit("%s has %d bytes, the limit is %d" % (name, len(text), LIMIT))
        with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as out:
            out.write(text)
        print("%s.txt: %d bytes" % (name, len(text)))


if __name__ == "__main__":
    main(sys.argv[1:])
