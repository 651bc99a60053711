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

    def test_a_workspace_of_its_own_names_petrel(self):
        tree = self.folder / "petrel"
        tree.mkdir()
        (tree / "repositories.bzl").touch()
        done = self.run_verb("extension", "--workspace", "out/mine", "--petrel", "petrel")
        self.assertEqual(done.returncode, 0, done.stderr)
        out = self.folder / "out/mine"
        self.assertEqual(sorted(path.name for path in out.iterdir()),
                         ["WORKSPACE", "bazelw", "extension"])
        self.assertTrue(os.access(out / "bazelw", os.X_OK))
        self.assertIn(f'path = "{tree.resolve()}"', (out / "WORKSPACE").read_text())
        labels = set()
        for build in out.rglob("BUILD.bazel"):
            labels.update(re.findall(r'"((?:@\w*)?//[^"]*)"', build.read_text()))
        own = {label for label in labels if label.startswith("//")}
        self.assertEqual(own, {"//extension=extension", "//extension/aot", "//extension/runtime",
                               "//extension/format", "//extension:__subpackages__",
                               "//visibility:private"})
        self.assertIn("@petrel//extension/cli:petrel_cli.bzl", labels)
        self.assertNotIn("null", "".join(labels))

    def test_all_labels_of_others_are_of_petrel(self):
        sdk = self.folder / "sdk"
        (sdk / "lib").mkdir(parents=True)
        (sdk / "repositories.bzl").touch()
        (sdk / "lib/libpetrel_core.a").touch()
        done = self.run_verb("mine", "--workspace", "out", "--petrel", "sdk")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cd ./out && bazel test //mine/...", done.stdout)
        repositories = set()
        for build in (self.folder / "out").rglob("BUILD.bazel"):
            repositories.update(re.findall(r'"@(\w+)//', build.read_text()))
        self.assertEqual(repositories, {"petrel", "rules_cc"})

    def test_a_workspace_needs_a_tree(self):
        done = self.run_verb("mine", "--workspace", "out")
        self.assertEqual(done.returncode, 1)
        self.assertIn("'.' is neither a tree of Petrel's sources nor the SDK; --petrel says",
                      done.stderr)
        self.assertEqual(self.run_verb("mine", "--petrel", ".").returncode, 2)
        both = self.run_verb("mine", "--workspace", "out", "--folder", "in")
        self.assertEqual(both.returncode, 2)
        odd = self.folder / "odd tree"
        odd.mkdir()
        (odd / "repositories.bzl").touch()
        done = self.run_verb("mine", "--workspace", "out", "--petrel", "odd tree")
        self.assertEqual(done.returncode, 1)
        self.assertIn("odd tree' must be an absolute path of letters", done.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_nothing_is_overwritten(self):
        self.assertEqual(self.run_verb("mine").returncode, 0)
        kept = (self.folder / "backends/mine/BUILD.bazel").stat().st_mtime_ns
        again = self.run_verb("mine")
        self.assertEqual(again.returncode, 1)
        self.assertIn("is there already", again.stderr)
        self.assertEqual((self.folder / "backends/mine/BUILD.bazel").stat().st_mtime_ns, kept)

    def test_bad_names_and_folders_are_told(self):
        for words, told in ((("Mine",), "'Mine': lower case"), (("1a",), "'1a'"),
                            (("a-b",), "'a-b'"), (("class",), "'class', which is a word"),
                            (("co_await",), "'co_await'"), (("runtime",), "or another namespace"),
                            (("mine", "--folder", "../x"), "'../x' must be"),
                            (("mine", "--folder", "/x"), "'/x' must be"),
                            (("mine", "--folder", "a//b"), "'a//b' must be")):
            done = self.run_verb(*words)
            self.assertEqual(done.returncode, 1)
            self.assertIn(told, done.stderr)
            self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
