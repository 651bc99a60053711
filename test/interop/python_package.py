# SPDX-License-Identifier: Apache-2.0
"""The Python package beside torch: exports what is not a file yet, shares tensors.

Run by python_package. The last line is "N passed, N failed".
"""

import sys
import unittest

import numpy
import petrel
import torch
from torch import nn


class Net(nn.Module):

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.linear = nn.Linear(8, 5)

    def forward(self, x):
        return self.linear(torch.relu(self.conv(x)).mean((2, 3)))


# An operator of this file alone: any operator of torch may be compiled some day.
@torch.library.custom_op("mine::unknown", mutates_args=())
def unknown(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@unknown.register_fake
def unknown_shape(x):
    return torch.empty_like(x)


class Fails(nn.Module):

    def forward(self, x):
        return unknown(x)


def net():
    torch.manual_seed(0)
    return Net().eval(), (torch.randn(1, 3, 8, 8),)


class PackageTest(unittest.TestCase):

    def test_exports_a_module(self):
        module, inputs = net()
        forward = petrel.load(petrel.export(module, args=inputs))["forward"]
        torch.testing.assert_close(torch.from_numpy(forward(*inputs)[0]),
                                   module(*inputs).detach(), rtol=1e-4, atol=1e-5)

    def test_exports_an_exported_program(self):
        module, inputs = net()
        exported = torch.export.export(module, inputs)
        for backend in ("xnnpack", None):
            program = petrel.export(exported, backend=backend)
            got, = petrel.load(program)["forward"](inputs[0].numpy())
            torch.testing.assert_close(torch.from_numpy(got), module(*inputs).detach(),
                                       rtol=1e-4, atol=1e-5)

    def test_exports_methods_of_every_kind(self):
        module, inputs = net()
        program = petrel.export(methods={"module": (module, inputs),
                                         "exported": torch.export.export(module, inputs)})
        loaded = petrel.load(program)
        self.assertEqual(sorted(loaded), ["exported", "module"])
        numpy.testing.assert_array_equal(loaded["module"](*inputs)[0],
                                         loaded["exported"](*inputs)[0])
        report = program.report()
        self.assertGreaterEqual(report["shared_weight_bytes"], report["weight_bytes"])

    def test_passes_options_to_torch_export(self):
        program = petrel.export(Doubles(), args=(torch.randn(3, 4),), backend=None, strict=True)
        x = torch.randn(3, 4)
        numpy.testing.assert_array_equal(petrel.load(program)["forward"](x)[0], (x + x).numpy())
        with self.assertRaises(TypeError):
            petrel.export(Doubles(), args=(x,), no_such_option=1)

    def test_takes_torch_tensors_of_any_layout(self):
        module, (x,) = net()
        forward = petrel.load(petrel.export(module, args=(x,)))["forward"]
        expected = forward(x.numpy())[0]
        for same in (x, x.to(memory_format=torch.channels_last), x.flip(3).flip(3)):
            numpy.testing.assert_array_equal(forward(same)[0], expected)
        with self.assertRaises(Exception):
            forward(x.clone().requires_grad_())
        with self.assertRaisesRegex(petrel.Error, "input 0 is float64, must be float32"):
            forward(x.double())

    def test_bfloat16_goes_both_ways(self):
        x = torch.randn(2, 3).bfloat16()
        forward = petrel.load(petrel.export(Doubles(), args=(x,), backend=None))["forward"]
        out, = forward(x)
        self.assertEqual(out.dtype, "bfloat16")
        torch.testing.assert_close(torch.from_dlpack(out), x + x)

    def test_model_that_cannot_be_compiled_names_its_line(self):
        with self.assertRaises(petrel.Error) as caught:
            petrel.export(Fails(), args=(torch.randn(8),))
        self.assertRegex(str(caught.exception), "mine.unknown")
        self.assertRegex(str(caught.exception), r"python_package\.py:\d+, in forward")

    def test_module_without_inputs_is_told(self):
        with self.assertRaisesRegex(TypeError, "example inputs are missing"):
            petrel.export(nn.ReLU())
        with self.assertRaisesRegex(TypeError, "must be a path"):
            petrel.export(torch.randn(3))


class Doubles(nn.Module):

    def forward(self, x):
        return x + x


def main() -> int:
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
