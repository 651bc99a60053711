# SPDX-License-Identifier: Apache-2.0
"""Files that petrel_pte() makes run together, and with nothing missing."""

import json
import subprocess
import tempfile
import unittest

FOLDER = "extension/cli"
PETREL = f"{FOLDER}/petrel"
IMAGE = "examples/quickstart/digit.npy"


def petrel(*words):
    return subprocess.run([PETREL, *words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def keys(path):
    done = petrel("data", "list", path, "--json")
    return {entry["key"] for entry in json.loads(done.stdout)["entries"]}


class PetrelPteTest(unittest.TestCase):

    def test_weights_are_in_the_files_of_their_patterns(self):
        biases, rest = keys(f"{FOLDER}/digits_biases.ptd"), keys(f"{FOLDER}/digits_in_files.ptd")
        self.assertTrue(biases and rest)
        self.assertTrue(all(".bias" in key for key in biases), biases)
        self.assertFalse(any(".bias" in key for key in rest), rest)

    def test_files_together_compute_what_one_file_does(self):
        program = f"{FOLDER}/digits_in_files.pte"
        data = [word for name in ("digits_biases", "digits_in_files")
                for word in ("--data", f"{FOLDER}/{name}.ptd")]
        with tempfile.TemporaryDirectory() as folder:
            alone = f"{folder}/alone.pte"
            self.assertEqual(petrel("export", "examples/quickstart/digits.pt2", "-o", alone,
                                    "--weight-keys", "name").returncode, 0)
            wanted = petrel("run", alone, "--input", IMAGE)
        done = petrel("run", program, *data, "--input", IMAGE)
        self.assertEqual((done.returncode, done.stdout), (0, wanted.stdout), done.stderr)
        self.assertEqual(petrel("run", program, *data[:2], "--input", IMAGE).returncode, 1)


if __name__ == "__main__":
    unittest.main()
