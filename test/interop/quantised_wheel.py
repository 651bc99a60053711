# SPDX-License-Identifier: Apache-2.0
"""Lowers quantised programs with the ExecuTorch wheel, as its own recipes do.

  export(program, out_pte, external=True)   # OUT.pte and OUT.ptd

Weights that are only stored in integers need its fusion pass, or they would be dequantised by
operators that its runtime does not have.
"""

import copy
import pathlib
import shutil
import tempfile

import executorch.kernels.quantized  # noqa: F401, kernels that are not delegated
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.exir.passes.quantize_io_pass import QuantizeInputs, QuantizeOutputs

import wheel_export
from quantised_programs import Program


class Refused(Exception):
    """The wheel cannot lower the program; the text is its last line."""


def export(program: Program, out: pathlib.Path, external: bool) -> None:
    try:
        _export(copy.deepcopy(program.methods), out, external, program.border)
    except Exception as why:
        lines = [line for line in str(why).splitlines() if line.strip()]
        raise Refused(lines[-1].strip() if lines else type(why).__name__) from None


def _with_integers(methods):
    """Inputs and outputs of forward become integers, after which nothing is left to transform."""
    edge = to_edge(methods["forward"])
    signature = methods["forward"].graph_signature
    inputs, outputs = range(len(signature.user_inputs)), range(len(signature.user_outputs))
    edge = edge.transform([QuantizeInputs(edge, list(inputs)), QuantizeOutputs(edge, list(outputs))])
    return edge.to_backend(XnnpackPartitioner())


def _export(methods, out: pathlib.Path, external: bool, border: bool) -> None:
    if external:
        methods = {name: wheel_export.tag_delegate_weights(p, 1) for name, p in methods.items()}
    if border:
        edge = _with_integers(methods)
    else:
        edge = to_edge_transform_and_lower(
            methods, partitioner={name: [XnnpackPartitioner()] for name in methods})
    tagged = wheel_export.in_turn(1) if external else False
    manager = edge.to_executorch(ExecutorchBackendConfig(
        external_constants=tagged, do_quant_fusion_and_const_prop=True))
    manager.save(str(out))
    if not external:
        return
    with tempfile.TemporaryDirectory() as folder:
        manager.write_tensor_data_to_file(folder)
        files = sorted(pathlib.Path(folder).iterdir())
        if len(files) != 1:
            raise RuntimeError(f"expected one .ptd, got {[f.name for f in files]}")
        shutil.copyfile(files[0], out.with_suffix(".ptd"))
