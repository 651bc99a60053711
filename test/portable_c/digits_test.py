# SPDX-License-Identifier: Apache-2.0
"""The classifier of digits as C: what the interpreter computes, bit for bit."""

import os
import pathlib
import tempfile
import unittest

import arrays
import npy_file
import package
from command import PETREL, done

DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()


class DigitsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def test_c_and_interpreter_agree_in_every_bit(self):
        digits = package.Package(self.folder, "kws", [("forward", DIGITS)])
        expected = arrays.interpreted(self.folder, DIGITS, [DIGIT])
        image = npy_file.read(DIGIT)
        self.assertEqual(digits.run("forward", [image.data]), [e.data for e in expected])
        digits.selftest()

    def test_no_planner_changes_a_bit(self):
        expected = [e.data for e in arrays.interpreted(self.folder, DIGITS, [DIGIT])]
        sizes = {}
        for planner in ("unshared", "orderings", "search"):
            folder = self.folder / planner
            folder.mkdir()
            digits = package.Package(folder, "kws", [("forward", DIGITS)], ["--planner", planner])
            self.assertEqual(digits.run("forward", [npy_file.read(DIGIT).data]), expected)
            sizes[planner] = digits.manifest["arena_bytes"]
        self.assertGreater(sizes["unshared"], sizes["search"])

    def test_equal_models_give_equal_files(self):
        for name in ("a", "b"):
            done([PETREL, "gen-c", DIGITS, "-o", name, "--name", "kws"],
                         self.folder)
        files = sorted(f.name for f in (self.folder / "a").iterdir())
        self.assertEqual(files, ["kws.c", "kws.cmake", "kws.h", "kws.mk", "kws_metadata.c",
                                 "kws_params.c", "kws_params.h", "kws_selftest.c", "manifest.json",
                                 "petrel_model.h", "petrel_model_view.h"])
        for file in files:
            self.assertEqual((self.folder / "a" / file).read_bytes(),
                             (self.folder / "b" / file).read_bytes(), file)

    def test_make_fragment_builds_the_self_test(self):
        done([PETREL, "gen-c", DIGITS, "-o", ".", "--name", "kws"], self.folder)
        (self.folder / "Makefile").write_text("include kws.mk\nmine:\n\ttouch mine\n")
        done(["make"], self.folder)
        self.assertTrue((self.folder / "mine").exists())
        self.assertFalse((self.folder / "kws_selftest").exists())
        done(["make", "./kws_selftest"], self.folder)
        done(["./kws_selftest"], self.folder)


if __name__ == "__main__":
    unittest.main()
