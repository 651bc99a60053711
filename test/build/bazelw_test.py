# SPDX-License-Identifier: Apache-2.0
"""On a system that it does not know, bazelw says in one line what it needs."""
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
