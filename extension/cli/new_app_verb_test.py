# SPDX-License-Identifier: Apache-2.0
"""petrel new-app: which files it writes, and what it refuses."""

import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest

PETREL = pathlib.Path("extension/cli/petrel").absolute()


class NewAppTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def run_verb(self, *words):
        return subprocess.run([PETREL, "new-app", *words], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def refuses(self, text, *words):
        done = self.run_verb(*words)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(text, done.stdout)

    def files(self, folder):
        return sorted(str(path.relative_to(self.folder / folder))
                      for path in (self.folder / folder).rglob("*") if path.is_file())

    def test_writes_an_app_for_cmake(self):
        done = self.run_verb("mine")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("cmake -S ./mine", done.stdout)
        self.assertEqual(self.files("mine"), ["CMakeLists.txt", "mine.cc"])
        text = (self.folder / "mine/CMakeLists.txt").read_text()
        self.assertIn("add_executable(mine mine.cc)", text)
        self.assertIn("-DCMAKE_PREFIX_PATH=/FOLDER/OF/THE/SDK", text)
        self.assertIn('#include "petrel/extension/module/module.h"',
                      (self.folder / "mine/mine.cc").read_text())

    def test_writes_an_app_for_bazel(self):
        tree = self.folder / "tree"
        tree.mkdir()
        (tree / "repositories.bzl").write_text("")
        done = self.run_verb("mine", "--build", "bazel", "--petrel", str(tree), "-o", "there")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.files("there"),
                         ["WORKSPACE", "bazelw", "mine/BUILD.bazel", "mine/mine.cc"])
        self.assertIn(f'path = "{tree}"', (self.folder / "there/WORKSPACE").read_text())
        self.assertTrue(os.access(self.folder / "there/bazelw", os.X_OK))
        self.assertIn('#include "extension/module/module.h"',
                      (self.folder / "there/mine/mine.cc").read_text())

    def sdk(self, path):
        """What of the SDK a workspace looks for."""
        (path / "lib").mkdir(parents=True)
        (path / "lib/libpetrel_core.a").touch()
        (path / "repositories.bzl").touch()
        return path

    def test_writes_an_app_for_bazel_with_the_sdk(self):
        sdk = self.sdk(self.folder / "sdk")
        done = self.run_verb("mine", "--build", "bazel", "--petrel", str(sdk))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("cd ./mine && bazel build //mine", done.stdout)
        self.assertEqual(self.files("mine"), [".bazelrc", "MODULE.bazel", "WORKSPACE",
                                              "WORKSPACE.bzlmod", "mine/BUILD.bazel",
                                              "mine/mine.cc"])
        for name in ("WORKSPACE", "MODULE.bazel"):
            self.assertIn(f'path = "{sdk}"', (self.folder / "mine" / name).read_text())
        self.assertIn("-std=c++17", (self.folder / "mine/.bazelrc").read_text())

    def test_a_command_of_the_sdk_finds_it(self):
        sdk = self.sdk(self.folder / "sdk")
        (sdk / "bin").mkdir()
        shutil.copy(PETREL, sdk / "bin/petrel")
        done = subprocess.run([sdk / "bin/petrel", "new-app", "mine", "--build", "bazel"],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f'path = "{sdk}"', (self.folder / "mine/WORKSPACE").read_text())

    def test_what_cannot_be_written_whole_leaves_nothing(self):

        def on_a_full_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        done = subprocess.run([PETREL, "new-app", "mine", "-o", "a/b/mine"], cwd=self.folder,
                              text=True, stderr=subprocess.PIPE, preexec_fn=on_a_full_disk)
        self.assertEqual(done.returncode, 1)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(self.files("."), [])
        self.assertEqual(list(self.folder.iterdir()), [])
        (self.folder / "file").touch()
        self.refuses("'./file/mine' cannot be made: Not a directory", "mine", "-o", "file/mine")

    def test_refuses_what_is_there_and_wrong_names(self):
        (self.folder / "mine").mkdir()
        self.refuses("'./mine' is there already", "mine")
        self.refuses("cannot be called 'My-App': lower case letters", "My-App")
        for name in ("petrel", "install", "clean", "help"):
            self.refuses(f"cannot be called '{name}', which is another target's name", name)
        self.refuses("is neither a tree of Petrel's sources nor the SDK", "other", "--build", "bazel")
        self.refuses("make not in {cmake,bazel}", "other", "--build", "make")


if __name__ == "__main__":
    unittest.main()
