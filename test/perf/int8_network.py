# SPDX-License-Identifier: Apache-2.0
"""A network in integers: PT2E with the wheel's own quantiser, per channel.

  network = quantise(networks.load(folder, ["resnet18"])["resnet18"], folder)
  network.name         # "resnet18_int8", an archive that all engines are given

Ranges are those of the network's example inputs. Expected values are eager torch's of the
quantised program; engines round on their own, and a deep network with random weights makes much of a level.
"""

import pathlib

import numpy as np
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import networks

MIN_DB = 10.0


def quantise(network: networks.Network, folder: pathlib.Path) -> networks.Network:
    if list(network.methods) != ["forward"]:
        raise SystemExit(f"{network.name}: has several methods, which are not quantised here")
    config = get_symmetric_quantization_config(is_per_channel=True)
    graph = torch.export.load(network.methods["forward"]).module()
    prepared = prepare_pt2e(graph, XNNPACKQuantizer().set_global(config))
    inputs = [[torch.from_numpy(np.load(f)) for f in call.inputs] for call in network.calls]
    with torch.no_grad():
        for example in inputs:
            prepared(*example)
        program = torch.export.export(convert_pt2e(prepared), tuple(inputs[0]))
        archive = folder / f"{network.name}_int8.pt2"
        torch.export.save(program, archive)
        module = program.module()
        calls = []
        for call, example in zip(network.calls, inputs):
            made = module(*example)
            outputs = [y.numpy() for y in (made if isinstance(made, tuple) else (made,))]
            calls.append(networks.Call("forward", call.inputs, outputs, MIN_DB))
    name = f"{network.name}_int8"
    return networks.Network(name, {"forward": archive}, calls,
                            {name: networks.Stateless(archive, calls)})
