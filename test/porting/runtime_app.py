# SPDX-License-Identifier: Apache-2.0
"""A script in the habits of ExecuTorch's Python runtime.

    runtime_app.py PACKAGE DIGITS.bin PROGRAM.pte

PACKAGE is executorch.runtime or petrel.runtime.
"""

import importlib
import io
import pathlib
import sys

import numpy

try:
    import torch
except ImportError:
    torch = None


def tensor(array):
    return array if torch is None else torch.from_numpy(array)


def describe(package, runtime, program):
    print("same:", isinstance(runtime, package.Runtime))
    print("xnnpack:", "XnnpackBackend" in runtime.backend_registry.registered_backend_names,
          runtime.backend_registry.is_available("XnnpackBackend"),
          runtime.backend_registry.is_available("none"))
    print("operators:", {"aten::add.out", "aten::mul.out", "executorch_prim::add.Scalar"} <=
          runtime.operator_registry.operator_names)
    print("methods:", sorted(program.method_names))
    meta = program.metadata("forward")
    print("meta:", meta.name(), meta.num_inputs(), meta.num_outputs())
    info = meta.input_tensor_meta(0)
    print("input:", tuple(info.sizes()), info.dtype(), info.nbytes())


def use_other_ways(package, runtime, path, image):
    data = pathlib.Path(path).read_bytes()
    for source in [pathlib.Path(path), bytearray(data), io.BytesIO(data)]:
        program = runtime.load_program(source, verification=package.Verification.Minimal,
                                       enable_etdump=False, debug_buffer_size=0)
        print(type(source).__name__, program.method_names)
    method = program.load_method("forward")
    print("same method:", program.load_method("forward") is method)
    if torch is not None:
        image = image.clone().requires_grad_()
    outputs = method.execute((image,))
    print("derived:", torch is not None and outputs[0].requires_grad)
    for what, kind, act in [("no method", KeyError, lambda: program.load_method("none")),
                            ("no meta", RuntimeError, lambda: program.metadata("none")),
                            ("no input", IndexError,
                             lambda: method.metadata.input_tensor_meta(7))]:
        try:
            act()
        except kind as error:
            print(what, "fails", str(error) != "")


def main():
    package = importlib.import_module(sys.argv[1])
    samples = numpy.fromfile(sys.argv[2], numpy.uint8).reshape(-1, 65)
    images = samples[:, :64].astype(numpy.float32).reshape(-1, 1, 1, 8, 8) / numpy.float32(16)
    runtime = package.Runtime.get()
    program = runtime.load_program(sys.argv[3],
                                   verification=package.Verification.InternalConsistency)
    describe(package, runtime, program)
    method = program.load_method("forward")
    print("output:", tuple(method.metadata.output_tensor_meta(0).sizes()))
    right = 0
    for i in range(50):
        outputs = method.execute([tensor(images[i])])
        right += int(numpy.argmax(numpy.asarray(outputs[0]))) == samples[i, 64]
    print("right:", right)
    print("torch:", torch is None or isinstance(outputs[0], torch.Tensor))
    print("scores:", [f"{score:.3f}" for score in numpy.asarray(outputs[0]).ravel()])
    with open(sys.argv[3], "rb") as file:
        again = runtime.load_program(file.read()).load_method("forward")
    print("bytes:", bool((numpy.asarray(again.execute([tensor(images[49])])[0]) ==
                          numpy.asarray(outputs[0])).all()))
    use_other_ways(package, runtime, sys.argv[3], tensor(images[49]))
    for what, act in [("no program", lambda: runtime.load_program("none.pte")),
                      ("too few", lambda: method.execute([]))]:
        try:
            act()
            print(what, "works")
        except (RuntimeError, FileNotFoundError):
            print(what, "fails")


if __name__ == "__main__":
    main()
