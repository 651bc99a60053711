# SPDX-License-Identifier: Apache-2.0
"""Inputs on the command line: by place, by name, written out."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import npy_file

PETREL = pathlib.Path("extension/cli/petrel").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()


class InputsTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def petrel(self, *words):
        return subprocess.run([PETREL, *map(str, words)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def done(self, *words):
        result = self.petrel(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def fails(self, *words):
        result = self.petrel(*words)
        self.assertEqual(result.returncode, 1, result.stdout)
        return result.stderr

    def bilinear(self):
        """A program of two inputs, their names and their files."""
        self.done("export", LAYERS / "bilinear.pt2", "-o", "m.pte")
        lines = self.fails("run", "m.pte", "--input", "no_such_name=x").splitlines()[0]
        names = lines.rpartition(" are ")[2].partition(":")[0].split(", ")
        self.assertEqual(len(names), 2, lines)
        return names, [LAYERS / f"bilinear.input_{i}.npy" for i in (0, 1)]

    def test_names_stand_for_places(self):
        (first, second), (a, b) = self.bilinear()
        wanted = self.done("run", "m.pte", "--input", a, "--input", b)
        for words in ((f"{first}={a}", f"{second}={b}"), (f"{second}={b}", f"{first}={a}"),
                      (f"{second}={b}", a), (b, f"{first}={a}")):
            inputs = [word for each in words for word in ("--input", each)]
            self.assertEqual(self.done("run", "m.pte", *inputs), wanted, words)
        self.assertEqual(
            self.done("run", "m.pte", "--call", f"forward:{second}={b},{a}"), wanted)
        self.done("bench", "m.pte", "--seconds", "0.01", "--input", f"{second}={b}")

    def test_names_that_are_wrong_are_told(self):
        (first, second), (a, _) = self.bilinear()
        said = self.fails("run", "m.pte", "--input", f"third={a}")
        self.assertIn("third=", said)
        self.assertIn(f"{first}, {second}", said)
        self.assertIn(f"'{first}' is given twice",
                      self.fails("run", "m.pte", "--input", f"{first}={a}", "--input",
                                 f"{first}={a}"))
        self.assertIn("takes 2", self.fails("run", "m.pte", *["--input", a] * 3))

    def test_a_file_may_have_an_equals_sign(self):
        _, (a, b) = self.bilinear()
        (self.folder / "v=1.npy").write_bytes(a.read_bytes())
        self.assertEqual(self.done("run", "m.pte", "--input", "v=1.npy", "--input", b),
                         self.done("run", "m.pte", "--input", a, "--input", b))

    def test_arrays_are_written_out(self):
        self.done("export", LAYERS / "embedding.pt2", "-o", "m.pte")
        ids = npy_file.read(LAYERS / "embedding.input_0.npy")
        values = list(npy_file.elements(ids))
        for size in reversed(ids.shape[1:]):
            values = [values[i:i + size] for i in range(0, len(values), size)]
        wanted = self.done("run", "m.pte", "--input", LAYERS / "embedding.input_0.npy")
        for text in (f"{values}:int64", f"{values}"):
            self.assertEqual(self.done("run", "m.pte", "--input", text.replace(" ", "")), wanted)
            self.assertEqual(self.done("run", "m.pte", "--call",
                                       "forward:" + text.replace(" ", "")), wanted)
        self.assertIn("float32", self.fails("run", "m.pte", "--input", f"{values}:float32"))
        self.assertIn("not a int64", self.fails("run", "m.pte", "--input", "[0.5]"))
        self.assertIn("shape", self.fails("run", "m.pte", "--input", "3"))

    def test_an_option_that_took_the_program_is_told(self):
        for verb in ("run", "bench"):
            result = self.petrel(verb, "--threads", "1", "--data", "m.ptd", "m.pte")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("program is required; --data takes all words behind it", result.stderr)
            self.assertNotIn("--threads takes", result.stderr)

    def test_empty_words_are_no_inputs(self):
        self.bilinear()
        said = "an input is an empty word"
        self.assertIn(said, self.fails("run", "m.pte", "--input", ""))
        self.assertIn(said, self.fails("run", "m.pte", "--call", "forward:,"))
        self.assertIn(said, self.fails("bench", "m.pte", "--input", ""))

    def test_a_run_that_fails_leaves_no_folder(self):
        _, (a, b) = self.bilinear()
        inputs = ["--input", a, "--input", b]
        (self.folder / "cut.pte").write_bytes((self.folder / "m.pte").read_bytes()[:100])
        self.fails("run", "cut.pte", *inputs, "--output-dir", "new")
        self.fails("run", "m.pte", "--method", "none", "--output-dir", "new")
        self.assertFalse((self.folder / "new").exists())
        (self.folder / "there").mkdir()
        self.fails("run", "cut.pte", *inputs, "--output-dir", "there")
        self.assertTrue((self.folder / "there").is_dir())
        self.assertIn("a folder", self.fails("run", "m.pte", *inputs, "--output-dir", "m.pte"))
        self.done("run", "m.pte", *inputs, "--output-dir", "new")
        self.assertTrue((self.folder / "new/output_0.npy").is_file())

    def test_outputs_do_not_take_the_place_of_inputs(self):
        (first, second), (a, b) = self.bilinear()
        mine = self.folder / "output_0.npy"
        mine.write_bytes(a.read_bytes())
        said = "output './output_0.npy' is a file that is read"
        for words in (["--input", "output_0.npy", "--input", b],
                      ["--input", f"{first}={mine}", "--input", f"{second}={b}"]):
            self.assertIn(said, self.fails("run", "m.pte", "--output-dir", ".", *words))
        self.done("gen-c", LAYERS / "bilinear.pt2", "-o", "c", "--name", "m", "--compile", "so")
        self.assertIn(said, self.fails("run", "--compiled", "c/libm.so", "--input", mine,
                                       "--output-dir", "."))
        self.assertEqual(mine.read_bytes(), a.read_bytes())
        # What a call wrote is there to be read by later ones, but not by itself.
        self.done("run", "m.pte", "--output-dir", "out", "--input", mine, "--input", b)
        mine = self.folder / "out/call_1_output_0.npy"
        calls = ["--output-dir", "out", "--call", f"forward:{a}", "--call", f"forward:{mine}"]
        mine.write_bytes(a.read_bytes())
        self.assertIn("is a file that is read", self.fails("run", "m.pte", *calls))
        self.assertEqual(mine.read_bytes(), a.read_bytes())

    def test_generated_files_do_not_take_the_place_of_inputs(self):
        model = (LAYERS / "bilinear.pt2").read_bytes()
        (self.folder / "c").mkdir()
        for name, words in (("c/model.c", ["-o", "c"]), ("m.zip", ["-o", "c", "--package", "m.zip"])):
            (self.folder / name).write_bytes(model)
            self.assertIn("is a file that is read", self.fails("gen-c", name, *words))
            self.assertEqual((self.folder / name).read_bytes(), model)


if __name__ == "__main__":
    unittest.main()
