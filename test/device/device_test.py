# SPDX-License-Identifier: Apache-2.0
"""Generated packages as firmware in a process of their own: the outputs of the reference kernels
through pipes, ptys and sockets; every layer compared, a wrong kernel found and named; devices that
are gone, silent or strange are told, and never waited for."""

import functools
import json
import os
import pathlib
import pty
import re
import socket
import subprocess
import sys
import tempfile
import time
import tty
import unittest
import xml.etree.ElementTree

import firmware
from command import PETREL, QUICK_PLAN, done

DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
INTEGER = pathlib.Path("test/quantized/integer").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
FIXTURES = pathlib.Path("test/models/fixtures/torch_2_13").absolute()
VARYING = pathlib.Path("test/models/varying").absolute()
STATE = pathlib.Path("test/models/state").absolute()
PAGE = pathlib.Path("docs/device_rpc.md").absolute()


@functools.cache
def digits_firmware(options, more):
    """The program; tests that run the same one change nothing of it."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
    return firmware.built(firmware.generated(folder, "digits", {"forward": DIGITS}, *options), *more)


class DeviceTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.begun = []

    def tearDown(self):
        for process in self.begun:
            process.kill()
            process.wait()

    def petrel(self, *words):
        result = subprocess.run([PETREL, *map(str, words)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        return result.returncode, result.stdout, result.stderr

    def exported(self, name, methods, *options):
        words = [w for method, model in methods.items() for w in ("--method", f"{method}={model}")]
        done([PETREL, "export", *words, "-o", f"{name}.pte", "--backend", "none",
              *QUICK_PLAN, *options], self.folder)
        return f"{name}.pte"

    def digits(self, *options, more=()):
        return digits_firmware(options, tuple(more))

    def expected(self, *words):
        done([PETREL, "export", DIGITS, "-o", "digits.pte", "--backend", "none"], self.folder)
        return done([PETREL, "run", "digits.pte", "--kernels", "reference", "--input", DIGIT,
                     *words], self.folder)

    def check_digits(self, device, *words):
        expected = self.expected()
        self.assertIn("sha256", expected)
        self.assertEqual(self.petrel("run", "--device", device, "--input", DIGIT, *words),
                         (0, expected, ""))

    def test_runs_alone_and_stepwise(self):
        program = self.digits()
        self.check_digits(f"exec:{program}")
        self.check_digits(f"exec:{program}", "--stepwise")

    def test_inputs_and_outputs_of_the_caller(self):
        program = self.digits("--io", "caller", more=["-DIO_BYTES=512"])
        self.check_digits(f"exec:{program}")
        self.check_digits(f"exec:{program}", "--stepwise")
        code, out, err = self.petrel("diff", DIGITS, "--device", f"exec:{program}", "--input", DIGIT)
        self.assertEqual((code, err), (0, ""), out)

    def test_parameters_and_pools(self):
        program = self.digits("--pool", "name=fast,limit=12K,align=32", "--pool", "slow=256K")
        self.check_digits(f"exec:{program}")

    def test_checksums_of_16_bits(self):
        self.check_digits(f"exec:{self.digits(more=['-DPETREL_RPC_CRC_BITS=16'])}")

    def test_other_models(self):
        # The last one takes and returns memory with channels innermost.
        for folder, name in ((LAYERS, "lstm"), (LAYERS, "attention"), (LAYERS, "embedding"),
                             (FIXTURES, "channels_last")):
            with self.subTest(model=name):
                model = folder / f"{name}.pt2"
                package = firmware.generated(self.folder, name, {"forward": model})
                program = firmware.built(package)
                inputs = [w for f in sorted(folder.glob(f"{name}.input_*.npy"))
                          for w in ("--input", f)]
                pte = self.exported(name, {"forward": model})
                expected = self.petrel("run", pte, "--kernels", "reference", *inputs)
                self.assertEqual(self.petrel("run", "--device", f"exec:{program}", *inputs),
                                 expected)
                code, out, err = self.petrel("diff", pte, "--device", f"exec:{program}", *inputs)
                self.assertEqual((code, err), (0, ""), out)
                self.assertIn("no value differs", out)

    def test_values_are_compared_in_the_sizes_that_they_have(self):
        # Those of the scans are made anew in each round.
        for name, step, kernel in (("cnn_batch", "op0_convolution", "convolution"),
                                   ("encoder", None, ""), ("cond_varying", None, ""),
                                   ("scan_rows", "op9_tanh", "tanh"),
                                   ("scan_varying", "op8_add", "add")):
            model = VARYING / f"{name}.pt2"
            package = firmware.generated(self.folder, name, {"forward": model})
            program = firmware.built(package)
            for call in (0, 1):
                inputs = [w for f in sorted(VARYING.glob(f"{name}.call_{call}.input_*.npy"))
                          for w in ("--input", f)]
                code, out, err = self.petrel("diff", model, "--device", f"exec:{program}", *inputs)
                self.assertEqual((code, err), (0, ""), out)
                self.assertIn("no value differs", out)
            if step is None:
                continue
            firmware.with_bug(package, step)
            code, out, err = self.petrel("diff", model, "--device", f"exec:{firmware.built(package)}",
                                         *inputs)
            self.assertEqual((code, err), (1, ""), out)
            self.assertRegex(out, rf"differs?, first aten::{kernel}.out at {step}")
            self.assertIn(f"inputs are alike, the result is not: aten::{kernel}.out at {step}", out)

    def test_integers_are_compared_as_they_are(self):
        for words in ((), ("--int8", "integer")):
            model = INTEGER / "keywords.pt2"
            package = firmware.generated(self.folder, "keywords", {"forward": model}, *words)
            program = firmware.built(package)
            pte = self.exported("keywords", {"forward": model}, *words)
            code, out, err = self.petrel("diff", pte, "--device", f"exec:{program}")
            self.assertEqual((code, err), (0, ""), out)
            self.assertIn("no value differs", out)
        # What has other operators compares next to nothing.
        code, out, err = self.petrel("diff", model, "--device", f"exec:{program}")
        self.assertEqual(code, 2)
        self.assertRegex(err, r"\Apetrel diff: the device runs other operators than \S+keywords\.pt2: "
                              r"give what `petrel export --backend none` makes with the options of "
                              r"gen-c, such as --int8 integer\n\Z")

    def test_state_is_kept_between_calls(self):
        methods = {"add": STATE / "counter.add.pt2", "read": STATE / "counter.read.pt2"}
        package = firmware.generated(self.folder, "counter", methods)
        program = firmware.built(package)
        pte = self.exported("counter", methods)
        calls = ("--call", "add", "--call", "add", "--call", "read")
        expected = self.petrel("run", pte, "--kernels", "reference", *calls)
        self.assertEqual(expected[0], 0, expected)
        self.assertEqual(self.petrel("run", "--device", f"exec:{program}", *calls), expected)

    def test_serial_line(self):
        program = self.digits()
        host, device = pty.openpty()
        tty.setraw(device)
        self.addCleanup(os.close, host)
        self.addCleanup(os.close, device)
        # The firmware has the end that makes the terminal; what opens it by its name is petrel.
        self.begun.append(subprocess.Popen([program], stdin=host, stdout=host))
        self.check_digits(f"serial:{os.ttyname(device)}@115200")

    def test_sockets(self):
        program = self.digits()
        # Names of sockets have at most 107 bytes, which a folder of a sandbox may have already.
        short = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(short.cleanup)
        for family, address, spec in ((socket.AF_INET, ("127.0.0.1", 0), "tcp:127.0.0.1:{}"),
                                      (socket.AF_UNIX, short.name + "/s", "unix:{}")):
            with self.subTest(spec=spec), socket.socket(family) as listening:
                listening.bind(address)
                listening.listen()
                name = listening.getsockname()
                serve = (f"import os, socket, sys\ns = socket.socket(fileno={listening.fileno()})\n"
                         "c, _ = s.accept()\nos.dup2(c.fileno(), 0)\nos.dup2(c.fileno(), 1)\n"
                         f"os.execv('{program}', ['{program}'])\n")
                self.begun.append(subprocess.Popen([sys.executable, "-c", serve],
                                                   pass_fds=[listening.fileno()]))
                self.check_digits(spec.format(name[1] if family == socket.AF_INET else name))

    def test_diff_names_the_kernel_that_is_wrong(self):
        package = firmware.generated(self.folder, "digits", {"forward": DIGITS})
        program = firmware.built(package)
        words = ("diff", DIGITS, "--device", f"exec:{program}", "--input", DIGIT)
        code, out, err = self.petrel(*words)
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn("no value differs", out)
        self.assertIn("matched by operators, which are the same: 10 values", out)
        firmware.with_bug(package, "op5_convolution")
        firmware.built(package)
        code, out, err = self.petrel(*words)
        self.assertEqual((code, err), (1, ""), out)
        self.assertIn("inputs are alike, the result is not: aten::convolution.out at "
                      "op5_convolution, examples/quickstart/train.py:58, in forward", out)
        code, out, err = self.petrel(*words, "--json")
        self.assertEqual(len(json.loads(out)["culprits"]), 1, out)

    def test_diff_names_parameters_that_are_others(self):
        package = firmware.generated(self.folder, "digits", {"forward": DIGITS})
        source = package / "digits_params.c"
        text = source.read_text()
        begin = text.index("{", text.index("digits_param_body_0_weight"))
        number = re.compile(r"-?\d[^,}\s]*").search(text, begin)
        source.write_text(f"{text[:number.start()]}0.5f{text[number.end():]}")
        program = firmware.built(package)
        words = ("diff", DIGITS, "--device", f"exec:{program}", "--input", DIGIT)
        code, out, err = self.petrel(*words)
        self.assertEqual((code, err), (1, ""), out)
        name = "body.0.weight"
        self.assertIn(f"the device has other parameters, 1 differs, first {name}: what is computed "
                      "with them differs, too\n", out)
        code, out, err = self.petrel(*words, "--json")
        self.assertEqual(json.loads(out)["other_parameters"], [name])

    def test_the_page_is_right(self):
        page = PAGE.read_text()
        app = re.search(r"```c\n(.*?)```", page, re.S)
        (self.folder / "app.c").write_text(app.group(1))
        (self.folder / "digits.pt2").symlink_to(DIGITS)
        (self.folder / "digit.npy").symlink_to(DIGIT)
        commands = [line.strip() for line in page.splitlines() if line.startswith("    petrel ")]
        commands += re.search(r"```sh\n(.*?)```", page, re.S).group(1).splitlines()
        self.assertEqual(len(commands), 5)
        for command in commands:
            done(["sh", "-c", f"petrel() {{ {PETREL} \"$@\"; }}\n{command}"], self.folder)

    def test_bench(self):
        program = self.digits()
        code, out, err = self.petrel("bench", "--device", f"exec:{program}", "--input", DIGIT,
                                     "--seconds", "0.05", "--calibrate", "50", "--picture",
                                     "profile.svg", "--json")
        self.assertEqual((code, err), (0, ""))
        figures = json.loads(out)
        self.assertEqual(figures["board"], "process")
        self.assertGreater(figures["mean_seconds"], 0)
        self.assertEqual(len(figures["steps"]), 11)
        self.assertAlmostEqual(sum(step["share"] for step in figures["steps"]), 1)
        picture = xml.etree.ElementTree.parse(self.folder / "profile.svg").getroot()
        bars = [float(bar.get("width")) for bar in picture.iter("{http://www.w3.org/2000/svg}rect")
                if bar.get("fill") == "steelblue"]
        longest = max(step["ticks"] for step in figures["steps"])
        for bar, step in zip(bars, figures["steps"], strict=True):
            self.assertAlmostEqual(bar / max(bars), step["ticks"] / longest, delta=1e-3)
        calibration = figures["calibration"]
        self.assertLessEqual(abs(calibration["drift"]), calibration["relative_error"] + 1e-3)
        code, out, err = self.petrel("bench", "--device", f"exec:{program}", "--seconds", "0.01")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("op5_convolution", out)

    def test_what_is_no_device_is_told(self):
        for spec, says in (
            ("com1", "device 'com1': write exec:COMMAND, serial:PATH[@BAUD], tcp:HOST:PORT or unix"),
            ("exec:false", "exec:false has ended with exit code 1"),
            ("exec:no_such_command", "has ended with exit code 127"),
            ("serial:/no/such/port", "serial:/no/such/port: cannot be opened: No such file"),
            ("serial:/dev/null", "serial:/dev/null: is no serial port"),
            ("serial:/dev/ttyS0@12345", "'12345' is no rate, they are 9600"),
            ("tcp:127.0.0.1", "device 'tcp:127.0.0.1': write tcp:HOST:PORT"),
            ("tcp:127.0.0.1:1", "tcp:127.0.0.1:1: cannot be reached: Connection refused"),
            ("unix:/no/such/socket", "unix:/no/such/socket: cannot be reached: No such file"),
            ("exec:sleep 100", "the device does not answer within 10000 ms"),
            ("exec:yes | while sleep 0.1; do head -c 9999; done",
             "the device does not answer within 10000 ms"),
        ):
            with self.subTest(spec=spec):
                begun = time.monotonic()
                code, out, err = self.petrel("run", "--device", spec)
                self.assertEqual((code, out), (1, ""))
                self.assertIn(says, err)
                self.assertLess(time.monotonic() - begun, 60)

    def test_wrong_usage(self):
        for words, says in (
            (("run", "model.pte", "--device", "exec:true"), "program excludes --device"),
            (("run",), "program is required"),
            (("run", "model.pte", "--stepwise"), "--stepwise requires --device"),
            (("diff", "a.pte"), "second is required"),
        ):
            with self.subTest(words=words):
                code, _, err = self.petrel(*words)
                self.assertEqual(code, 2)
                self.assertIn(says, err)

    def test_wrong_inputs_are_told(self):
        program = self.digits()
        code, _, err = self.petrel("run", "--device", f"exec:{program}", "--input", "[1.0]")
        self.assertEqual(code, 1)
        self.assertIn("input 0 'image'", err)
        code, _, err = self.petrel("run", "--device", f"exec:{program}", "--method", "decode")
        self.assertEqual(code, 1)
        self.assertIn("model 'digits' has no method 'decode', it has: forward", err)
        model = VARYING / "mlp.pt2"  # of 0 to 16 rows of 8
        program = firmware.built(firmware.generated(self.folder, "mlp", {"forward": model}))
        rows = ", ".join(["[1, 2, 3, 4, 5, 6, 7, 8]"] * 17)
        code, _, err = self.petrel("run", "--device", f"exec:{program}", "--input", f"[{rows}]")
        self.assertEqual(code, 1)
        self.assertIn("'input' has sizes [17,8], must be [0..16,8]", err)


if __name__ == "__main__":
    unittest.main()
