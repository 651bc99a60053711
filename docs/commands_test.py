# SPDX-License-Identifier: Apache-2.0
"""Runs every command of docs/*.md that starts with `petrel`, page by page."""

import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

PETREL = pathlib.Path("extension/cli/petrel").absolute()


class CommandsTest(unittest.TestCase):
    def test_every_command_works(self):
        pages = sorted(pathlib.Path("docs").glob("*.md"))
        self.assertGreater(len(pages), 3)
        count = 0
        for page in pages:
            # //test/boards:page_test runs those of a page that needs emulators.
            if page.name == "device.md":
                continue
            folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
            for file in ("digits.pt2", "digit.npy"):
                shutil.copy(pathlib.Path("examples/quickstart") / file, folder)
            shutil.copy("docs/buffers.csv", folder)
            for line in page.read_text().splitlines():
                if not line.startswith("    petrel "):
                    continue
                words = shlex.split(line)
                done = subprocess.run([PETREL, *words[1:]], cwd=folder, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 0, f"{page}: {line}\n{done.stdout}")
                count += 1
        self.assertGreater(count, 12)


if __name__ == "__main__":
    unittest.main()
