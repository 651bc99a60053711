# SPDX-License-Identifier: Apache-2.0
"""Data that move between a program and a file of their own."""

import os
import pathlib
import tempfile
import unittest

import numpy
import petrel

DIGITS = pathlib.Path("examples/quickstart/digits.pt2")


def folder():
    return pathlib.Path(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]))


class MoveTest(unittest.TestCase):

    def test_data_moves_out_of_a_program_and_back(self):
        target = folder()
        petrel.export(DIGITS).save(target / "m.pte")
        forward = petrel.load(target / "m.pte")["forward"]
        sizes = forward.inputs[0].shape
        image = numpy.linspace(0, 1, numpy.prod(sizes), dtype=numpy.float32).reshape(sizes)
        wanted, = forward(image)
        moved = petrel.split_data(target / "m.pte", target / "small.pte", target / "m.ptd")
        self.assertGreater(moved["keys"], 0)
        keys = {entry["key"] for entry in petrel.list_data(target / "m.ptd")}
        self.assertEqual(len(keys), moved["keys"])
        self.assertTrue(all(entry["place"] == "file" and entry["bytes"] > 0
                            for entry in petrel.list_data(target / "m.ptd")))
        outside, = petrel.load(target / "small.pte", data=[target / "m.ptd"])["forward"](image)
        numpy.testing.assert_array_equal(outside, wanted)
        petrel.merge_data(target / "small.pte", [target / "m.ptd"], target / "again.pte")
        for call in (lambda: petrel.list_data(target / "again.pte", max_arena_bytes=0),
                     lambda: petrel.split_data(target / "again.pte", target / "no.pte",
                                               target / "no.ptd", max_arena_bytes=0),
                     lambda: petrel.merge_data(target / "small.pte", [target / "m.ptd"],
                                               target / "no.pte", max_arena_bytes=0)):
            with self.assertRaises(petrel.Error) as caught:
                call()
            self.assertIn("max_arena_bytes, which is 0", str(caught.exception))
        inside, = petrel.load(target / "again.pte")["forward"](image)
        numpy.testing.assert_array_equal(inside, wanted)

    def test_failures_name_the_file_and_leave_nothing(self):
        target = folder()
        petrel.export(DIGITS).save(target / "m.pte")
        with self.assertRaises(petrel.Error) as caught:
            petrel.split_data(target / "m.pte", target / "s.pte", target / "s.ptd", keys="zzz*")
        self.assertIn("zzz*", str(caught.exception))
        (target / "bad.ptd").write_bytes(b"not data at all, but long enough")
        with self.assertRaises(petrel.Error) as caught:
            petrel.list_data(target / "bad.ptd")
        self.assertIn("bad.ptd", str(caught.exception))
        self.assertEqual(sorted(os.listdir(target)), ["bad.ptd", "m.pte"])


if __name__ == "__main__":
    unittest.main()
