# SPDX-License-Identifier: Apache-2.0
"""A whole backend in Python: it takes additions and products of floats.

The compiler's half writes each part as JSON and shares constants as named data;
the runtime's half computes with NumPy.
"""

import json

import numpy
import petrel

OPS = {"aten.add.Tensor": numpy.add, "aten.mul.Tensor": numpy.multiply}


class AffinePartitioner(petrel.Partitioner):

    def supports(self, node):
        if node.op not in OPS:
            return "it is neither an addition nor a product"
        if node.args.get("alpha", 1) != 1:
            return f"alpha is {node.args['alpha']}, must be 1"
        values = [*node.inputs, *node.outputs]
        return all(value.dtype == "float32" for value in values) or "it is not of float32"


class AffineBackend(petrel.Backend):
    id = "AffineBackend"
    partitioner = AffinePartitioner()

    def preprocess(self, part, store):
        constants = {}
        for value in part.graph.constants:
            constants[value.name] = (store.add_weight(value), value.shape)
        steps = [(node.op, node.name, node.args["self"].name, node.args["other"].name)
                 for node in part.graph.nodes]
        return json.dumps({"inputs": [value.name for value in part.graph.inputs],
                           "constants": constants, "steps": steps,
                           "outputs": [value.name for value in part.graph.outputs]}).encode()


class AffineRuntime(petrel.RuntimeBackend):
    id = "AffineBackend"

    def init(self, payload, named_data, *, compile_specs, method):
        part = json.loads(payload)
        part["constants"] = {
            name: numpy.frombuffer(named_data.get_data(key), numpy.float32).reshape(shape)
            for name, (key, shape) in part["constants"].items()}
        return part

    def execute(self, handle, args):
        values = {**handle["constants"], **dict(zip(handle["inputs"], args))}
        for op, result, a, b in handle["steps"]:
            values[result] = OPS[op](values[a], values[b])
        for name, output in zip(handle["outputs"], args[len(handle["inputs"]):]):
            output[...] = values[name]
