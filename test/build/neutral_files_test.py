# SPDX-License-Identifier: Apache-2.0
"""No binary file of the tree tells in which folder of a machine it was made."""
import io
import os
import re
import tempfile
import unittest
import zipfile

# Folders that differ from machine to machine, and frames of any other.
FOLDER = re.compile(rb"/(?:home|root|tmp|work|Users)/[\w.+/-]*")
FRAME = re.compile(rb'File \\"(/[^"\\]*)')
BINARY = (".bin", ".npy", ".pt2", ".ptd", ".pte")


def workspace():
    """The source tree that the runfiles point into."""
    here = os.environ["TEST_SRCDIR"]
    name = os.environ["TEST_WORKSPACE"]
    return os.path.dirname(
        os.path.realpath(os.path.join(here, name, "WORKSPACE")))


def parts(path):
    """The bytes of a file, unpacked where it is an archive."""
    with open(path, "rb") as file:
        data = file.read()
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return [data]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [archive.read(name) for name in archive.namelist()]


def violations(tree):
    """(files read, "FILE: PATH" for each path that a file should not hold)."""
    read, found = 0, []
    for folder, folders, files in os.walk(tree):
        folders[:] = [f for f in folders
                      if not f.startswith((".", "bazel-"))]
        for name in sorted(files):
            if not name.endswith(BINARY):
                continue
            path = os.path.join(folder, name)
            read += 1
            for data in parts(path):
                held = FOLDER.findall(data) + FRAME.findall(data)
                found += ["%s: %s" % (os.path.relpath(path, tree), text.decode())
                          for text in sorted(set(held))]
    return read, found


class NeutralFilesTest(unittest.TestCase):

    def test_files_hold_no_folders_of_a_machine(self):
        read, found = violations(workspace())
        self.assertGreater(read, 100)
        self.assertEqual(found, [], "test/models/neutral_archive.py mends archives")

    def test_folders_in_archives_and_plain_files_are_found(self):
        with tempfile.TemporaryDirectory() as tree:
            with zipfile.ZipFile(os.path.join(tree, "a.pt2"), "w",
                                 zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("a/models/model.json",
                                 '"File \\"/srv/me/a.py\\", line 2, in forward"')
                archive.writestr("a/other.json", '"File \\"b/c.py\\", line 2"')
            with open(os.path.join(tree, "b.pte"), "wb") as file:
                file.write(b"\0\0/home/me/model.py\0")
            os.mkdir(os.path.join(tree, "bazel-out"))
            with open(os.path.join(tree, "bazel-out", "c.pte"), "wb") as file:
                file.write(b"/tmp/c")
            self.assertEqual(violations(tree), (2, [
                "a.pt2: /srv/me/a.py", "b.pte: /home/me/model.py"]))


if __name__ == "__main__":
    unittest.main()
