# SPDX-License-Identifier: Apache-2.0
"""`run --compiled`, `bench --compiled` and `inspect` of shared libraries of models: the outputs of
the reference kernels bit for bit, and files that are refused before their code runs."""

import hashlib
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from command import ONE_LEVEL, PETREL, QUICK_PLAN, done

DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
PORTABLE = pathlib.Path("test/models/portable").absolute()
STATE = pathlib.Path("test/models/state").absolute()

CHOSEN = ("lstm", "pools", "choices", "norms", "conv_transposed", "embedding", "writes", "resize")

# A library that says so when its code runs.
FOREIGN = """#include <stdio.h>
__attribute__((constructor)) static void started(void) { puts("the code ran"); }
"""


def sealed(library):
    """With the length and the digest of these bytes."""
    at = library.index(b"PETRELM\0")
    library = bytearray(library)
    struct.pack_into("<Q", library, at + 16, len(library))
    library[at + 56:at + 88] = bytes(32)
    library[at + 56:at + 88] = hashlib.sha256(library).digest()
    return bytes(library)


class CompiledRunTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def made(self, name, methods):
        given = [w for m, model in methods for w in ("--method", f"{m}={model}")]
        done([*ONE_LEVEL, PETREL, "gen-c", *given, "-o", name, "--name", name, "--compile", "so",
              *QUICK_PLAN], self.folder)
        done([PETREL, "export", *given, "-o", f"{name}.pte", "--backend", "none", *QUICK_PLAN],
             self.folder)
        return f"{name}/lib{name}.so"

    def petrel(self, *words):
        result = subprocess.run([PETREL, *map(str, words)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return result.returncode, result.stdout, result.stderr

    def check_same(self, name, library, *words):
        """The command prints the digest of each output."""
        expected = done([PETREL, "run", f"{name}.pte", "--kernels", "reference", *words],
                        self.folder)
        self.assertIn("sha256", expected)
        self.assertEqual(self.petrel("run", "--compiled", library, *words), (0, expected, ""))

    def test_outputs_are_those_of_the_reference_kernels(self):
        library = self.made("digits", [("forward", DIGITS)])
        self.check_same("digits", library, "--input", DIGIT, "--output-dir", "out")
        self.check_same("digits", library, "--input", f"image={DIGIT}")
        self.check_same("digits", library)
        for layer in CHOSEN:
            library = self.made(layer, [("forward", LAYERS / f"{layer}.pt2")])
            inputs = [w for file in sorted(LAYERS.glob(f"{layer}.input_*.npy"))
                      for w in ("--input", file)]
            self.check_same(layer, library, *inputs)

    def test_inputs_are_found_by_the_users_name_and_by_that_in_c(self):
        library = self.made("words", [("forward", PORTABLE / "words.pt2")])
        tensors = json.loads((self.folder / "words/manifest.json").read_text())["methods"][0]
        files = sorted(PORTABLE.glob("words.input_*.npy"))
        expected = done([PETREL, "run", "words.pte", "--kernels", "reference",
                         *(w for file in files for w in ("--input", file))], self.folder)
        self.assertIn("linux_", [t["c_name"] for t in tensors["inputs"]])
        for spelling in ("name", "c_name"):
            for verb in ("run", "bench"):
                words = [w for tensor, file in zip(tensors["inputs"], files, strict=True)
                         for w in ("--input", f"{tensor[spelling]}={file}")]
                if verb == "run":
                    self.assertEqual(self.petrel("run", "--compiled", library, *words),
                                     (0, expected, ""))
                else:
                    self.assertEqual(self.petrel("bench", "--compiled", library, "--seconds", "0",
                                                 *words)[0], 0)
        self.assertIn("input 'linux_' is given twice", self.petrel(
            "run", "--compiled", library, "--input", f"linux={files[0]}", "--input",
            f"linux_={files[0]}")[2])

    def test_bench_tells_how_long_each_step_takes(self):
        library = self.made("digits", [("forward", DIGITS)])
        words = ["bench", "--compiled", library, "--seconds", "0", "--min-runs", "3", "--profile"]
        steps = json.loads(self.petrel(*words, "--json")[1])["steps"]
        manifest = json.loads((self.folder / "digits/manifest.json").read_text())
        self.assertEqual(len(steps), manifest["methods"][0]["steps"] + 2)
        self.assertEqual((steps[0]["name"], steps[-1]["name"]), ("inputs", "outputs"))
        self.assertEqual({s["kernel"] for s in steps[1:-1]}, set(manifest["operators"]))
        self.assertTrue(all(s["p50_seconds"] >= 0 for s in steps))
        text = self.petrel(*words)[1]
        for step in steps:
            self.assertIn(f'{step["name"]}  {step["kernel"]}', text)

    def test_methods_share_their_state(self):
        library = self.made("counter", [(m, STATE / f"counter.{m}.pt2") for m in ("add", "read")])
        calls = ["--call", "add:[1,2,3,4]", "--call", "read", "--call", "add:x=[1,1,1,1]",
                 "--call", "read:"]
        self.check_same("counter", library, *calls)
        library = self.made("decoder", [(m, STATE / f"decoder.{m}.pt2")
                                        for m in ("prefill", "decode")])
        self.check_same("decoder", library, "--call", f"prefill:{STATE}/decoder.prompt.npy",
                        "--call", "decode:[[15]],[8]", "--call", "decode:[[7]],[9]")

    def test_what_the_method_does_not_take_is_refused(self):
        library = self.made("counter", [("add", STATE / "counter.add.pt2")])
        for words, code, message in (
                ([], 1, "model 'counter' has no method 'forward', it has: add"),
                (["--method", "add", "--input", "[1,2]"], 1,
                 "input 0 'x' has shape [2], method 'add' takes [4]"),
                (["--method", "add", "--input", "y=[1,2,3,4]"], 1,
                 "but the inputs of method 'add' are x"),
                (["--method", "add", "--threads", "2"], 2, "--threads excludes --compiled"),
                (["--kernels", "reference"], 2, "--kernels excludes --compiled")):
            returned, printed, said = self.petrel("run", "--compiled", library, *words)
            self.assertEqual((returned, printed), (code, ""))
            self.assertIn(message, said)

    def test_index_out_of_range_is_an_error(self):
        library = self.made("decoder", [(m, STATE / f"decoder.{m}.pt2")
                                        for m in ("prefill", "decode")])
        code, _, said = self.petrel("run", "--compiled", library, "--call", "decode:[[64]],[8]")
        self.assertEqual(code, 1)
        self.assertIn("method 'decode': status -5: an index in a tensor is out of range", said)

    def test_inspect_shows_the_manifest(self):
        library = self.made("counter", [(m, STATE / f"counter.{m}.pt2") for m in ("add", "read")])
        shown = json.loads(done([PETREL, "inspect", library, "--json"], self.folder))
        manifest = json.loads((self.folder / "counter/manifest.json").read_text())
        self.assertEqual((shown["kind"], shown["abi_version"]), ("module", 5))
        self.assertEqual({k: shown[k] for k in manifest}, manifest)
        text = done([PETREL, "inspect", library], self.folder)
        for line in ("name           counter", f"sha256         {manifest['sha256']}",
                     "method add", "  input   x: f32[4]", "state counter.total  16 bytes",
                     f"memory state  {manifest['state_bytes']} bytes aligned to "
                     f"{manifest['arena_align']}, kept between calls"):
            self.assertIn(line + "\n", text)
        self.assertEqual(self.petrel("verify", library), (0, f"{library}: ok\n", ""))

    def test_manifest_may_be_any_json(self):
        library = (self.folder / self.made("counter", [("add", STATE / "counter.add.pt2")]))
        whole = library.read_bytes()
        start = whole.index(b"PETRELM\0") + 88
        size = struct.unpack_from("<I", whole, start - 76)[0]
        for manifest, code in (('{"kind":"program","methods":[3,{"inputs":7}],"state":"x"}', 0),
                               ('{"memories":{"a":[]}}', 0), ("[1]", 1), ("{", 1), ("", 1),
                               ('{"a":' + "[" * 101 + "]" * 101 + "}", 1)):
            changed = whole[:start] + manifest.ljust(size).encode() + whole[start + size:]
            library.write_bytes(sealed(changed))
            for words in ((), ("--json",)):
                returned, printed, said = self.petrel("inspect", library, *words)
                self.assertEqual(returned, code, manifest)
                self.assertEqual("module" in printed, code == 0)
                self.assertEqual("its manifest: " in said, code == 1)

    def test_files_that_are_no_modules_of_this_machine_are_refused_before_their_code_runs(self):
        library = self.made("counter", [("add", STATE / "counter.add.pt2")])
        whole = (self.folder / library).read_bytes()
        header = whole.index(b"PETRELM\0")
        (self.folder / "foreign.c").write_text(FOREIGN)
        done(["gcc", "-shared", "-fPIC", "foreign.c", "-o", "foreign.so"], self.folder)
        (self.folder / "cut.so").write_bytes(whole[:-300])
        (self.folder / "bit.so").write_bytes(whole[:4200] + b"\xcc" + whole[4201:])
        machine = sealed(whole[:18] + struct.pack("<H", 258) + whole[20:])
        (self.folder / "machine.so").write_bytes(machine)
        version = sealed(whole[:header + 8] + struct.pack("<I", 1) + whole[header + 12:])
        (self.folder / "version.so").write_bytes(version)
        for file, message in (
                ("counter.pte", "is a .pte program, which is data, and not a compiled module"),
                ("foreign.so", "has no section .petrel, so it is not a module"),
                ("cut.so", f"ends after {len(whole) - 300} bytes"),
                ("bit.so", "is damaged: its SHA-256 is"),
                ("machine.so", "is for loongarch64, this process runs on"),
                ("version.so", "has ABI version 1, this process knows 5; make it anew"),
                ("absent.so", "No such file or directory")):
            for verb in ("run", "bench"):
                code, printed, said = self.petrel(verb, "--compiled", file, "--method", "add")
                self.assertEqual((code, printed), (1, ""), file)
                self.assertIn(message, said)
            if file in ("foreign.so", "cut.so", "bit.so"):
                self.assertIn(message, self.petrel("inspect", file)[2])
        # What is known of them needs no machine.
        self.assertIn("machine        loongarch64\n", self.petrel("inspect", "machine.so")[1])
        # Without --compiled no code is run, whatever it is.
        self.assertEqual(self.petrel("run", library, "--method", "add")[:2], (1, ""))

    def test_bench_times_a_module(self):
        library = self.made("counter", [("add", STATE / "counter.add.pt2")])
        words = ("bench", "--compiled", library, "--method", "add", "--seconds", "0.01")
        figures = json.loads(self.petrel(*words, "--json")[1])
        self.assertTrue(figures["compiled"])
        self.assertGreaterEqual(figures["runs"], 30)
        self.assertLess(0, figures["min_seconds"])
        self.assertLessEqual(figures["min_seconds"], figures["p50_seconds"])
        self.assertIn("steady ", self.petrel(*words)[1])


if __name__ == "__main__":
    unittest.main()
