# SPDX-License-Identifier: Apache-2.0
"""What `petrel new-backend` writes, and what it refuses. That it builds and passes the
conformance suite is the other tests of this package."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PETREL = str(pathlib.Path("extension/cli/petrel").absolute())


class NewBackendTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def run_verb(self, *words):
        return subprocess.run([PETREL, "new-backend", *words], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_all_names_are_the_new_ones(self):
        self.assertEqual(self.run_verb("my_chip", "--folder", "vendor/my_chip").returncode, 0)
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        self.assertEqual(len(files), 13)
        texts = {path: path.read_text() for path in files}
        for path, text in texts.items():
            self.assertNotRegex(str(path), "null")
            self.assertEqual(re.findall(r"backends[/:]+null|Null|NULL_|null_b|\bnull [0-9b]", text),
                             [], path)
            self.assertNotIn("new-backend", text)
        whole = "".join(texts.values())
        for name in ("namespace petrel::backends::my_chip::aot", "class MyChipPartitioner",
                     '"MyChipBackend"', "//vendor/my_chip/format", "PETREL_VENDOR_MY_CHIP_AOT",
                     '"//vendor/my_chip=my_chip"', "my_chip backend: line"):
            self.assertIn(name, whole)

    def test_nothing_is_overwritten(self):
        self.assertEqual(self.run_verb("mine").returncode, 0)
        kept = (self.folder / "backends/mine/BUILD.bazel").stat().st_mtime_ns
        again = self.run_verb("mine")
        self.assertEqual(again.returncode, 1)
        self.assertIn("is there already", again.stderr)
        self.assertEqual((self.folder / "backends/mine/BUILD.bazel").stat().st_mtime_ns, kept)

    def test_bad_names_and_folders_are_told(self):
        for words, told in ((("Mine",), "'Mine': lower case"), (("1a",), "'1a'"),
                            (("a-b",), "'a-b'"), (("mine", "--folder", "../x"), "'../x' must be"),
                            (("mine", "--folder", "/x"), "'/x' must be"),
                            (("mine", "--folder", "a//b"), "'a//b' must be")):
            done = self.run_verb(*words)
            self.assertEqual(done.returncode, 1)
            self.assertIn(told, done.stderr)
            self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
