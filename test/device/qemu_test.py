# SPDX-License-Identifier: Apache-2.0
"""Firmware on an emulated Cortex-M4, whose UART is the line: outputs of the reference kernels bit
for bit, every layer compared, a wrong kernel found, steps timed.

  test/portable_c/compilers          installs the compiler and the emulator
  bazel test //test/device:qemu_test
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

import firmware
from command import PETREL, done

DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()


class QemuTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        cls.package = firmware.generated(cls.folder, "digits", {"forward": DIGITS})
        program = firmware.built(cls.package, board=True)
        cls.command = firmware.QEMU.format(serial="stdio", firmware=program)
        cls.device = f"exec:{cls.command}"

    def petrel(self, *words):
        result = subprocess.run([PETREL, *map(str, words)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        return result.returncode, result.stdout, result.stderr

    def test_runs_as_the_interpreter_does(self):
        done([PETREL, "export", DIGITS, "-o", "digits.pte", "--backend", "none"], self.folder)
        expected = done([PETREL, "run", "digits.pte", "--kernels", "reference", "--input", DIGIT],
                        self.folder)
        self.assertEqual(self.petrel("run", "--device", self.device, "--input", DIGIT),
                         (0, expected, ""))

    def test_socket(self):
        # Names of sockets are short, and the folder of a test is not.
        short = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(short.cleanup)
        path = pathlib.Path(short.name, "uart")
        words = self.command.replace("-serial stdio",
                                     f"-serial unix:{path},server=on,wait=off").split()
        with subprocess.Popen(words) as emulator:
            self.addCleanup(emulator.kill)
            for _ in range(100):
                if path.exists():
                    break
                time.sleep(0.05)
            code, out, err = self.petrel("run", "--device", f"unix:{path}", "--input", DIGIT)
            emulator.kill()
        self.assertEqual((code, err), (0, ""))
        self.assertIn("sha256", out)

    def test_steps_are_timed_and_the_stack_is_measured(self):
        code, out, err = self.petrel("bench", "--device", self.device, "--input", DIGIT,
                                     "--seconds", "0.1", "--json")
        self.assertEqual((code, err), (0, ""))
        figures = json.loads(out)
        self.assertEqual((figures["timer_hz"], figures["timer_bits"]), (25000000, 32))
        self.assertGreater(figures["mean_ticks"], 1000)
        ticks = {step["name"]: step["ticks"] for step in figures["steps"]}
        self.assertEqual(max(ticks, key=ticks.get), "op2_convolution")
        self.assertGreater(figures["stack_bytes"], 0)
        self.assertLess(figures["stack_bytes"], 1 << 17)

    def test_diff_names_the_kernel_that_is_wrong(self):
        words = ("diff", DIGITS, "--device", self.device, "--input", DIGIT)
        code, out, err = self.petrel(*words)
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn("no value differs", out)
        folder = self.folder / "wrong"
        folder.mkdir()
        package = firmware.generated(folder, "digits", {"forward": DIGITS})
        firmware.with_bug(package, "op5_convolution")
        wrong = firmware.QEMU.format(serial="stdio", firmware=firmware.built(package, board=True))
        code, out, err = self.petrel("diff", DIGITS, "--device", f"exec:{wrong}", "--input", DIGIT)
        self.assertEqual((code, err), (1, ""), out)
        self.assertIn("inputs are alike, the result is not: aten::convolution.out at "
                      "op5_convolution", out)


if __name__ == "__main__":
    unittest.main()
