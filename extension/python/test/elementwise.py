# SPDX-License-Identifier: Apache-2.0
"""Backends of the tests: each takes some of add, mul, sub and relu of floats.

A payload is JSON; it says which methods and operators preprocess_all saw, too.
"""

import json
import pathlib
import struct
import sys

import numpy
import petrel

TESTDATA = pathlib.Path("extension/python/test/testdata")
ADD, MUL, SUB = "aten.add.Tensor", "aten.mul.Tensor", "aten.sub.Tensor"
RELU = "aten.relu.default"
FUNCTIONS = {ADD: numpy.add, MUL: numpy.multiply, SUB: numpy.subtract,
             RELU: lambda x: numpy.maximum(x, 0)}


def model(name):
    return TESTDATA / f"{name}.pt2"


def check_note(test, words, raised):
    """A note of the exception has the words, of Pythons whose exceptions have notes."""
    if sys.version_info >= (3, 11):
        test.assertIn(words, " ".join(raised.__notes__))


class Partitioner(petrel.Partitioner):

    def __init__(self, ops):
        self.ops = ops
        self.asked = []

    def supports(self, node):
        self.asked.append(node.op)
        if node.op not in self.ops:
            return f"{node.op} is none of {len(self.ops)} operators"
        values = [*node.inputs, *node.outputs]
        operands = 1 if node.op == RELU else 2
        return all(value.dtype == "float32" for value in values) and len(node.inputs) == operands


class Backend(petrel.Backend):

    def __init__(self, id="Elementwise", ops=(ADD, MUL)):
        self.id = id
        self.partitioner = Partitioner(ops)
        self.calls = 0
        self.seen = {}

    def preprocess_all(self, programs, store):
        self.calls += 1
        self.seen = {method: [[node.op for node in part.graph.nodes] for part in parts]
                     for method, parts in programs.items()}
        self.store = store
        return {method: [self.payload(part, store) for part in parts]
                for method, parts in programs.items()}

    def add(self, value, store):
        key = f"{self.id}.{value.data.tobytes().hex()}"
        if not store.add_named_blob(key, value.data, 16):
            raise AssertionError(key)
        return key

    def payload(self, part, store):
        constants = {}
        for value in part.graph.constants:
            constants[value.name] = (self.add(value, store), value.shape)
        steps = [(node.op, node.name, [value.name for value in node.inputs])
                 for node in part.graph.nodes]
        return json.dumps({
            "method": part.method,
            "index": part.index,
            "inputs": [value.name for value in part.graph.inputs],
            "outputs": [value.name for value in part.graph.outputs],
            "constants": constants,
            "steps": steps
        }).encode()


class Runtime(petrel.RuntimeBackend):

    def __init__(self, id="Elementwise"):
        self.id = id
        self.events = []
        self.live = 0

    def init(self, payload, named_data, *, compile_specs, method):
        part = json.loads(payload)
        self.events.append(("init", method, part["index"], compile_specs))
        part["constants"] = {
            name: numpy.frombuffer(named_data.get_data(key), numpy.float32).reshape(shape)
            for name, (key, shape) in part["constants"].items()
        }
        self.live += 1
        return part

    def execute(self, handle, args):
        self.events.append(("execute", handle["method"], handle["index"]))
        inputs = len(handle["inputs"])
        values = {**handle["constants"], **dict(zip(handle["inputs"], args))}
        for op, result, operands in handle["steps"]:
            values[result] = FUNCTIONS[op](*(values[name] for name in operands))
        for name, output in zip(handle["outputs"], args[inputs:]):
            output[...] = values[name]

    def destroy(self, handle):
        self.live -= 1
        self.events.append(("destroy", handle["method"], handle["index"]))


def affine(x, shift=0.5, parts=1):
    """What models affine* compute: worked out here from their formula."""
    scale = numpy.array([1, 2, 3, 4], numpy.float32)
    for part in range(parts):
        if part > 0:
            x = 1 / (1 + numpy.exp(-x))
        x = x * scale + numpy.float32(shift)
    return x


def safetensors(tensors):
    """The bytes of a .safetensors file."""
    entries, data = {}, b""
    for key, value in tensors.items():
        end = len(data) + value.nbytes
        entries[key] = {"dtype": "F32", "shape": value.shape, "data_offsets": [len(data), end]}
        data += value.tobytes()
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 64 + 56)
    return struct.pack("<Q", len(header)) + header + data
