# SPDX-License-Identifier: Apache-2.0
"""Writes an archive of torch.export.save as a LiteRT file.

  to_tflite.py MODEL.pt2 OUT.tflite

A program that PT2E quantised keeps its levels, but where LiteRT's integer operators know one scale
alone: those of sigmoid, softmax and tanh. Its inputs and outputs become integers.
"""

import contextlib
import sys

import litert_torch
import torch
import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401  archives name its operators
from litert_torch.quantize import pt2e_quantizer, quant_config

QUANTIZE = {
    torch.ops.quantized_decomposed.dequantize_per_tensor.default:
        torch.ops.quantized_decomposed.quantize_per_tensor.default,
    torch.ops.quantized_decomposed.dequantize_per_channel.default:
        torch.ops.quantized_decomposed.quantize_per_channel.default,
}
FIXED = {
    torch.ops.aten.sigmoid.default: (1 / 256, -128),
    torch.ops.aten.softmax.int: (1 / 256, -128),
    torch.ops.aten._softmax.default: (1 / 256, -128),
    torch.ops.aten.tanh.default: (1 / 128, 0),
}


def _value(module: torch.fx.GraphModule, argument):
    if not isinstance(argument, torch.fx.Node):
        return argument
    value = module
    for part in argument.target.split("."):
        value = getattr(value, part)
    return value


def unfold_weights(module: torch.fx.GraphModule) -> None:
    """The converter wants weights in floats that the program quantises: floats of the same
    levels."""
    for node in list(module.graph.nodes):
        if node.target not in QUANTIZE or node.args[0].op != "get_attr":
            continue
        levels = node.args[0]
        name = f"floats_of_{levels.name}"
        module.register_buffer(name, node.target(*(_value(module, a) for a in node.args)))
        with module.graph.inserting_before(node):
            floats = module.graph.get_attr(name)
            quantized = module.graph.call_function(QUANTIZE[node.target],
                                                   (floats, *node.args[1:]))
        node.replace_input_with(levels, quantized)


def fix_scales(module: torch.fx.GraphModule) -> None:
    quantize = torch.ops.quantized_decomposed.quantize_per_tensor.default
    for node in module.graph.nodes:
        if node.target is quantize and node.args[0].target in FIXED:
            for quantized in (node, *node.users):
                quantized.args = (quantized.args[0], *FIXED[node.args[0].target],
                                  *quantized.args[3:])


def convert_quantized(module: torch.fx.GraphModule, inputs, by_name):
    unfold_weights(module)
    fix_scales(module)
    module.recompile()
    # It quantises nothing: the program is quantised. It says that operators are to be integers.
    static = pt2e_quantizer.PT2EQuantizer().set_global(
        pt2e_quantizer.get_symmetric_quantization_config(is_per_channel=True))
    return litert_torch.convert(module, inputs, by_name,
                                quant_config=quant_config.QuantConfig(pt2e_quantizer=static))


def main() -> None:
    program = torch.export.load(sys.argv[1])
    inputs, by_name = program.example_inputs
    module = program.module()
    is_quantized = any(node.target in QUANTIZE for node in module.graph.nodes)
    convert = convert_quantized if is_quantized else litert_torch.convert
    with contextlib.redirect_stdout(sys.stderr):
        convert(module, inputs, by_name or None).export(sys.argv[2])


if __name__ == "__main__":
    main()
