# SPDX-License-Identifier: Apache-2.0
"""The backend of affine_backend.py with all weights of all methods in one blob, which the
export still sends to a file, and for which other weights can be made."""

import json

import numpy
import petrel
from affine_backend import OPS, AffinePartitioner


class PackedBackend(petrel.Backend):
    id = "PackedBackend"
    partitioner = AffinePartitioner()

    def preprocess_all(self, programs, store):
        parts = [part for parts in programs.values() for part in parts]
        # Two methods may have other weights under one name.
        constants = {(value.fqn, value.data.tobytes()): value
                     for part in parts for value in part.graph.constants}
        offsets, end = {}, 0
        for which, value in constants.items():
            offsets[which] = end
            end += value.data.size
        key = None
        if constants:
            packed = numpy.concatenate([value.data.ravel() for value in constants.values()])
            key = store.add_derived("packed", list(constants.values()), packed, recipe="1")
        return {method: [self.payload(part, key, offsets) for part in parts]
                for method, parts in programs.items()}

    def payload(self, part, key, offsets):
        steps = [(node.op, node.name, node.args["self"].name, node.args["other"].name)
                 for node in part.graph.nodes]
        return json.dumps({"key": key, "steps": steps,
                           "constants": {value.name: (offsets[value.fqn, value.data.tobytes()],
                                                      value.shape)
                                         for value in part.graph.constants},
                           "inputs": [value.name for value in part.graph.inputs],
                           "outputs": [value.name for value in part.graph.outputs]}).encode()


class PackedRuntime(petrel.RuntimeBackend):
    id = "PackedBackend"

    def init(self, payload, named_data, *, compile_specs, method):
        part = json.loads(payload)
        if part["constants"]:
            packed = numpy.frombuffer(named_data.get_data(part["key"]), numpy.float32)
            part["constants"] = {
                name: packed[offset:offset + numpy.prod(shape, dtype=int)].reshape(shape)
                for name, (offset, shape) in part["constants"].items()}
        return part

    def execute(self, handle, args):
        values = {**handle["constants"], **dict(zip(handle["inputs"], args))}
        for op, result, a, b in handle["steps"]:
            values[result] = OPS[op](values[a], values[b])
        for name, output in zip(handle["outputs"], args[len(handle["inputs"]):]):
            output[...] = values[name]
