#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What method_memory.cc tells, of a file of the ExecuTorch wheel in the wheel's runtime.

  wheel_method_memory.py MODEL.pte decode prefill
  wheel_method_memory.py --modules 4 MODEL.pte decode

Loads and runs the methods one after the other in this process, on zeros, and prints after each

  {"method": "decode", "private_bytes": 105021696, "private_bytes_before": 101021696,
   "own_bytes": 106021696, "own_bytes_before": 102021696}

Before is before the program was loaded, torch and the runtime's library included. With
--modules the program is loaded as often, each time with its methods, and all stay.
"""

import argparse
import json

import torch
from executorch.runtime import Runtime


def bytes_of(*kinds: str) -> int:
    with open("/proc/self/smaps_rollup", encoding="ascii") as lines:
        return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(kinds))


def private_bytes() -> int:
    return bytes_of("Private_Clean:", "Private_Dirty:")


def own_bytes() -> int:
    return bytes_of("Pss:")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", type=int, default=1)
    parser.add_argument("path")
    parser.add_argument("methods", nargs="+")
    args = parser.parse_args()
    runtime = Runtime.get()
    torch.zeros(1).add(1)
    before, own_before = private_bytes(), own_bytes()
    kept = []
    for number in range(args.modules * len(args.methods)):
        if number % len(args.methods) == 0:
            program = runtime.load_program(args.path)
            kept.append(program)
        name = args.methods[number % len(args.methods)]
        method = program.load_method(name)
        meta = method.metadata
        dtypes = {1: torch.uint8, 3: torch.int32, 4: torch.int64, 6: torch.float32, 11: torch.bool}
        inputs = [meta.input_tensor_meta(i) for i in range(meta.num_inputs())]
        method.execute([torch.zeros(x.sizes(), dtype=dtypes[x.dtype()]) for x in inputs])
        kept.append(method)
        print(json.dumps({"method": name, "private_bytes": private_bytes(),
                          "private_bytes_before": before, "own_bytes": own_bytes(),
                          "own_bytes_before": own_before}), flush=True)


if __name__ == "__main__":
    main()
