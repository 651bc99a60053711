# SPDX-License-Identifier: Apache-2.0
"""Writes the argument types of the portable kernels, for random programs.

    python make_signatures.py ../../runtime/kernels/portable/kernel_list.inc > signatures.inc

One letter per argument of the operator's schema: T tensor, L list of tensors,
N list of optional tensors, S number, I int, F float, B bool, Y dtype, A list of
ints, D list of floats, G list of bools, X string, W tensor that is written, V list of
tensors that are written. Lower case: may be none.
"""

import re
import sys

import torch
import executorch.exir  # noqa: F401  (registers dim_order_ops)
import executorch.exir.passes  # noqa: F401
import executorch.kernels.quantized  # noqa: F401
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401

LETTERS = {
    "Tensor": "T",
    "Tensor[]": "L",
    "Tensor?[]": "N",
    "Scalar": "S",
    "int": "I",
    "SymInt": "I",
    "float": "F",
    "bool": "B",
    "ScalarType": "Y",
    "Layout": "Y",
    "Device": "X",
    "MemoryFormat": "Y",
    "int[]": "A",
    "SymInt[]": "A",
    "float[]": "D",
    "bool[]": "G",
    "str": "X",
}


def letter(argument, text):
    written = argument.alias_info is not None and argument.alias_info.is_write
    type_text = re.sub(r"\(\w+!?\)", "", text)
    type_text = re.sub(r"\[\d+\]", "[]", type_text)
    optional = type_text.endswith("?")
    code = LETTERS[type_text.rstrip("?") if optional else type_text]
    if written:
        return {"T": "W", "L": "V"}[code]
    return code.lower() if optional else code


def signature(schema):
    """Argument types come from the schema's text: the objects say int for dtype."""
    text = str(schema)
    inside = text[text.index("(") + 1 : text.rindex(") ->")]
    parts = [part.strip() for part in re.split(r",\s*(?![^\[]*\])", inside) if part.strip() != "*"]
    return "".join(
        letter(argument, part.split(" ")[0]) for argument, part in zip(schema.arguments, parts)
    )


def main():
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Made by make_signatures.py.")
    for name in re.findall(r'PETREL_KERNEL\(\s*"([^"]+)"', open(sys.argv[1]).read()):
        if name == "aten::index_put_":  # what it writes is its first argument
            continue
        base, _, overload = name.partition(".")
        try:
            schema = torch._C._get_schema(base, overload)
        except RuntimeError:
            print(f"no schema of {name}", file=sys.stderr)
            continue
        print(f'{{"{name}", "{signature(schema)}"}},')


if __name__ == "__main__":
    main()
