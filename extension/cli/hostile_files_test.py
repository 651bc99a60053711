# SPDX-License-Identifier: Apache-2.0
"""Files that were made to hang the command, to fill memory or to write on a terminal."""

import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest
import zipfile

PETREL = pathlib.Path("extension/cli/petrel").absolute()
MODEL = pathlib.Path("examples/quickstart/digits.pt2").absolute()


class HostileFilesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def petrel(self, *arguments):
        """(exit code, output, errors); far less time than hanging takes."""
        result = subprocess.run([PETREL, *map(str, arguments)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        return result.returncode, result.stdout, result.stderr

    def tensors(self, name, index, data=b""):
        text = json.dumps(index, ensure_ascii=False).encode()
        (self.folder / name).write_bytes(struct.pack("<Q", len(text)) + text + data)
        return name

    def test_pipes_are_refused_and_not_waited_for(self):
        os.mkfifo(self.folder / "pipe")
        for words in (["verify"], ["inspect"], ["data", "list"], ["run"], ["bench"],
                      ["inspect", "--plan-svg", "x.svg"], ["data", "split", "-o", "x", "--to", "y"],
                      ["data", "merge", "-o", "x", "pipe"], ["export", "-o", "x"], ["diff", "pipe"]):
            code, _, errors = self.petrel(*words, "pipe")
            self.assertEqual(code, 2 if words[0] == "diff" else 1, (words, errors))
            self.assertIn("regular file", errors, words)

    def test_names_of_a_file_write_nothing_else_on_the_terminal(self):
        name = "\x1b[2Jred\x9b5m"
        file = self.tensors("a.safetensors", {name: {"dtype": "U8", "shape": [1],
                                                     "data_offsets": [0, 1]}}, b"x")
        for words in (["inspect"], ["data", "list"]):
            code, output, errors = self.petrel(*words, file)
            self.assertEqual(code, 0, errors)
            self.assertIn("red", output)
            self.assertFalse(set(output) & {"\x1b", "\x9b"}, (words, output))

    def test_names_of_an_archive_write_nothing_else_on_the_terminal(self):
        evil = rb"\u001b[2Jred\u009b5m\nforged"
        with zipfile.ZipFile(self.folder / "a.pt2", "w") as archive:
            with zipfile.ZipFile(MODEL) as source:
                for member in source.namelist():
                    data = source.read(member)
                    if member.endswith("models/model.json"):
                        data = re.sub(rb'"((?:relu|conv2d)(?:_\d)?)"',
                                      lambda found: b'"' + found[1] + evil + b'"', data)
                    archive.writestr(member, data)
        for words in (["opt"], ["export", "--report", "--backend", "none", "-o", "a.pte"]):
            code, output, errors = self.petrel(*words, "a.pt2")
            self.assertEqual(code, 0, errors)
            self.assertIn("red", output)
            self.assertFalse(set(output + errors) & {"\x1b", "\x9b"}, (words, output))
            self.assertFalse([line for line in output.splitlines() if line.startswith("forged")])

    def test_tensors_over_each_other_are_not_copied(self):
        size, count = 1 << 20, 3000
        index = {f"t{i}": {"dtype": "U8", "shape": [size - count], "data_offsets": [i, i + size - count]}
                 for i in range(count)}
        file = self.tensors("a.safetensors", index, bytes(size))
        for words in (["verify"], ["data", "list"]):
            code, _, errors = self.petrel(*words, file)
            self.assertEqual(code, 1)
            self.assertIn("share bytes", errors)

    def test_a_plan_is_not_written_over_its_problem(self):
        problem = "id,lower,upper,size\na,0,3,2\n"
        (self.folder / "p.csv").write_text(problem)
        for option in ("--svg", "--html", "--csv"):
            code, _, errors = self.petrel("plan", "p.csv", option, "./p.csv")
            self.assertEqual(code, 2)
            self.assertIn("output './p.csv' is the problem", errors)
        self.assertEqual((self.folder / "p.csv").read_text(), problem)


if __name__ == "__main__":
    unittest.main()
