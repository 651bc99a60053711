# SPDX-License-Identifier: Apache-2.0
"""A script in the habits of ExecuTorch's bindings, which its Python runtime is made of.

    bindings_app.py MODULE DIGITS.bin PROGRAM.pte EXTERNAL.pte EXTERNAL.ptd

MODULE is executorch.extension.pybindings.portable_lib or petrel.portable_lib.
"""

import importlib
import pathlib
import sys

import numpy

try:
    import torch
except ImportError:
    torch = None


def tensor(array):
    return array if torch is None else torch.from_numpy(array)


def fails(what, act):
    try:
        act()
        print(what, "works")
    except RuntimeError as error:
        print(what, "fails", str(error) != "")


def use_programs(lib, path, image, expected):
    data = pathlib.Path(path).read_bytes()  # must stay there
    for program in (lib._load_program(path), lib._load_program_from_buffer(data)):
        print("program:", program.num_methods(), program.get_method_name(0),
              program.method_meta("forward").num_outputs(), program.has_etdump())
        method = program.load_method("forward")
        method.set_inputs([image])
        method.execute()
        for outputs in (method.get_outputs(), method.call([image]), method((image,))):
            print("equal:", bool((numpy.asarray(outputs[0]) == expected).all()))
        print("method:", method.method_meta().name(), method.method_meta().num_inputs())
        fails("no name", lambda: program.get_method_name(1))
        fails("no method", lambda: program.load_method("none"))


def main():
    lib = importlib.import_module(sys.argv[1])
    path, external, data = sys.argv[3:]
    samples = numpy.fromfile(sys.argv[2], numpy.uint8).reshape(-1, 65)
    images = samples[:, :64].astype(numpy.float32).reshape(-1, 1, 1, 8, 8) / numpy.float32(16)
    module = lib._load_for_executorch(path)
    print("methods:", module.method_names(), module.has_etdump(), type(module).__name__)
    right = 0
    for i in range(50):
        outputs = module.forward([tensor(images[i])])
        right += int(numpy.argmax(numpy.asarray(outputs[0]))) == samples[i, 64]
    print("right:", right)
    image, expected = tensor(images[49]), numpy.asarray(outputs[0]).copy()
    buffer = pathlib.Path(path).read_bytes()
    for call in (module, lambda inputs: module.run_method("forward", inputs),
                 lib._load_for_executorch_from_buffer(buffer).forward):
        print("equal:", bool((numpy.asarray(call((image,))[0]) == expected).all()))
    with_data = lib._load_for_executorch(external, data)
    print("data:", bool((abs(numpy.asarray(with_data.forward([image])[0]) - expected) < 1e-3).all()))
    info = module.method_meta("forward").input_tensor_meta(0)
    print("meta:", tuple(info.sizes()), info.dtype(), info.nbytes())
    use_programs(lib, path, image, expected)
    print("registry:", "aten::add.out" in lib._get_operator_names(),
          "XnnpackBackend" in lib._get_registered_backend_names(),
          lib._is_available("XnnpackBackend"), lib._is_available("none"))
    fails("no program", lambda: lib._load_for_executorch("none.pte"))
    fails("no method", lambda: module.run_method("none", [image]))
    fails("wrong type", lambda: module.forward([tensor(images[0].astype(numpy.float64))]))
    print("verified:", lib._load_for_executorch(
        path, program_verification=lib.Verification.Minimal).method_names())


if __name__ == "__main__":
    main()
