# SPDX-License-Identifier: Apache-2.0
"""What bazelw says on a system that it does not know, and which options it gives Bazel."""
import os
import subprocess
import tempfile
import unittest

BAZELW = os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"],
                      "bazelw")


class BazelwTest(unittest.TestCase):

    def answer(self, release):
        """What bazelw says where /etc/os-release holds `release`."""
        folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        file = os.path.join(folder, "os-release")
        if release is not None:
            with open(file, "w", encoding="utf-8") as out:
                out.write(release)
        with open(BAZELW, encoding="utf-8") as text:
            script = text.read()
        self.assertIn("/etc/os-release", script)
        copy = os.path.join(folder, "bazelw")
        with open(copy, "w", encoding="utf-8") as out:
            # It must not go on to install packages, whatever the test finds.
            out.write(script.replace("/etc/os-release", file).replace(
                "\nhave=", "\nexit 0\nhave=", 1))
        run = subprocess.run(["bash", copy, "build", "//:petrel"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             universal_newlines=True, check=False)
        return run.returncode, run.stdout

    def run_without_bazel(self, *words, **variables):
        """What ends with the options that Bazel would get before these words."""
        folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        copy = os.path.join(folder, "bazelw")
        with open(BAZELW, encoding="utf-8") as text:
            script = text.read()
        self.assertIn("\nexec /usr/bin/bazel ", script)
        with open(copy, "w", encoding="utf-8") as out:
            out.write(script.replace("\nexec /usr/bin/bazel ", "\ncat \"$rc\"; exit; : "))
        return subprocess.run(["bash", copy, *words],
                              env=dict(os.environ, PETREL_CACHE=folder, **variables),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True, check=False)

    def options(self, *words):
        """What bazelw tells Bazel before these words."""
        run = self.run_without_bazel(*words)
        self.assertEqual(run.returncode, 0, run.stdout)
        return run.stdout

    def test_a_remote_cache_takes_the_place_of_the_one_on_the_disk(self):
        for words in ((), ("--", "--remote_cache=x")):
            found = self.options("build", "//:petrel", *words)
            self.assertIn("--disk_cache=", found)
            self.assertNotIn("--strategy", found)
        for words in (("--remote_cache=grpc://x",), ("--remote_executor", "grpc://x")):
            found = self.options("build", *words, "//:petrel")
            self.assertNotIn("--disk_cache", found)
            self.assertIn("--repository_cache=", found)
            self.assertEqual("--strategy=PetrelExport=remote" in found,
                             words[0] == "--remote_executor")

    def test_says_which_python_it_cannot_build_for(self):
        headless = os.path.join(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]), "python3")
        with open(headless, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\necho /nowhere\n")
        os.chmod(headless, 0o755)
        for python, words in ((headless, "whose headers are not in /nowhere"),
                              ("/bin/false", "must be a Python 3"),
                              ("/bin/none", "must be a Python 3"),
                              ("/bin", "must be a Python 3 or a folder with Python.h")):
            run = self.run_without_bazel("build", "//:petrel", PETREL_PYTHON=python)
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"bazelw: PETREL_PYTHON is {python}, {words}", run.stdout)
        self.assertNotIn("PETREL_PYTHON_INCLUDE", self.options("build", "//:petrel"))

    def test_tells_where_the_ndk_is(self):
        ndk = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        with open(os.path.join(ndk, "source.properties"), "w", encoding="utf-8") as out:
            out.write("Pkg.Revision = 28.0.1\n")
        wanted = f"build --repo_env=PETREL_NDK={os.path.realpath(ndk)}\n"
        for words in (("build", "--ndk", ndk, "//:petrel"), (f"--ndk={ndk}", "build", "//:petrel")):
            self.assertIn(wanted, self.options(*words))
        for words in (("build", "//:petrel"), ("run", "//:petrel", "--", "--ndk", ndk)):
            self.assertNotIn("PETREL_NDK", self.options(*words))
        os.mkdir(os.path.join(ndk, "cache"))
        self.assertIn(f"--sandbox_writable_path={os.path.realpath(ndk)}/cache",
                      self.options("build", f"--ndk={ndk}"))
        for words in (("build", "--ndk"), ("build", "--ndk=/nowhere"), ("build", "--ndk", "/")):
            run = self.run_without_bazel(*words)
            self.assertEqual(run.returncode, 1)
            self.assertIn("must be the folder of an NDK", run.stdout)

    def test_builds_on_two_releases_of_debian(self):
        for version in ("12", "13"):
            self.assertEqual(
                self.answer("ID=debian\nVERSION_ID=\"%s\"\n" % version), (0, ""))

    def test_says_what_it_needs_elsewhere(self):
        for release, name in (("ID=ubuntu\nVERSION_ID=\"24.04\"\n", "ubuntu-24.04"),
                              ("ID=debian\n", "debian-"), (None, "")):
            status, text = self.answer(release)
            self.assertEqual(status, 1)
            self.assertIn("needs Debian 12 or 13", text)
            self.assertIn("this is '%s'" % name, text)
            self.assertEqual(text.count("\n"), 1, text)


if __name__ == "__main__":
    unittest.main()
