# SPDX-License-Identifier: Apache-2.0
"""petrel.open_device: firmware in a process computes what the compiled module computes."""

import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import petrel

DIGITS = "examples/quickstart/digits.pt2"
DIGIT = "examples/quickstart/digit.npy"
FIRMWARE = pathlib.Path("test/device/firmware.c").absolute()
MODULE = "extension/compiled/libdigits.so"


class DeviceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp())
        petrel.gen_c(DIGITS, output=folder, name="digits", device_rpc=True)
        subprocess.run(["cc", "-std=c99", "-O2", "-ffp-contract=off", "-DNAME=digits",
                        '-DMODEL_HEADER="digits.h"', '-DPLAN_HEADER="digits_plan.h"',
                        f"-I{folder}", FIRMWARE, *folder.glob("*.c"), "-lm", "-o",
                        folder / "firmware"], check=True)
        cls.spec = f"exec:{folder / 'firmware'}"

    def test_computes_what_the_compiled_module_does(self):
        device = petrel.open_device(self.spec)
        self.assertEqual((device.name, device.board, list(device)),
                         ("digits", "process", ["forward"]))
        image = np.load(DIGIT)
        module = petrel.load_compiled(MODULE)
        self.assertEqual(device["forward"].inputs, module["forward"].inputs)
        np.testing.assert_array_equal(device["forward"](image)[0], module["forward"](image)[0])
        device.reset_state()

    def test_what_does_not_fit_is_refused_by_name(self):
        device = petrel.open_device(self.spec)
        with self.assertRaisesRegex(petrel.Error, r"input 'image' is float32\[1\], must be"):
            device["forward"](np.ones(1, np.float32))
        with self.assertRaisesRegex(KeyError, "there is no method 'decode'"):
            device["decode"]
        with self.assertRaisesRegex(petrel.Error, "exec:false has ended with exit code 1"):
            petrel.open_device("exec:false")


if __name__ == "__main__":
    unittest.main()
