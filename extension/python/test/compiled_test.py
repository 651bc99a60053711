# SPDX-License-Identifier: Apache-2.0
"""petrel.load_compiled: what the interpreter computes, state, threads, and files that are refused."""

import pathlib
import threading
import unittest

import numpy as np
import petrel

DIGITS = "extension/compiled/libdigits.so"
ROWS = "extension/compiled/librows.so"
COUNTER = "extension/compiled/libcounter.so"
WORDS = "extension/compiled/libwords.so"


class CompiledTest(unittest.TestCase):
    def test_compiled_module_computes_what_the_program_does_with_kernels(self):
        program = petrel.export("examples/quickstart/digits.pt2", backend=None)
        image = np.load("examples/quickstart/digit.npy")
        expected, = petrel.load(program)["forward"](image)
        module = petrel.load_compiled(pathlib.Path(DIGITS))
        forward = module["forward"]
        scores, = forward(image)
        np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)
        self.assertEqual((scores.dtype, scores.shape), (np.float32, (1, 10)))
        # Arrays that lie otherwise are copied, those that are read-only are not written.
        strided = np.ascontiguousarray(image.transpose(3, 2, 1, 0)).transpose(3, 2, 1, 0)
        strided.setflags(write=False)
        np.testing.assert_array_equal(forward(strided)[0], scores)
        self.assertEqual(module.name, "digits")
        self.assertRegex(module.sha256, "^[0-9a-f]{64}$")
        self.assertEqual(forward.inputs[0], petrel.TensorInfo(
            "image", "image", "float32", (1, 1, 8, 8), (0, 1, 2, 3)))

    def test_sizes_that_vary_are_those_of_the_arrays(self):
        forward = petrel.load_compiled(ROWS)["forward"]
        rows = np.linspace(-1, 1, 128, dtype=np.float32).reshape(16, 8)
        whole, = forward(rows)
        self.assertEqual(whole.shape, (16, 4))
        for count in (1, 7, 16, 0):
            part, = forward(rows[:count])
            self.assertEqual(part.shape, (count, 4))
            np.testing.assert_array_equal(part, whole[:count])
        with self.assertRaisesRegex(petrel.Error, r"float32\[0..16,8\], a tensor of float32\[17,8\]"):
            forward(np.ones((17, 8), np.float32))

    def test_inputs_are_called_by_their_names(self):
        add = petrel.load_compiled(COUNTER)["add"]
        np.testing.assert_array_equal(add(x=np.ones(4, np.float32))[0], [2, 3, 4, 5])
        # The model's name is a word that C has taken.
        words = petrel.load_compiled(WORDS)["forward"]
        inputs = {info.name: np.full(info.shape, i + 1, info.dtype)
                  for i, info in enumerate(words.inputs)}
        expected = words(*inputs.values())
        other = {info.c_name: inputs[info.name] for info in words.inputs}
        self.assertNotEqual(set(inputs), set(other))
        for given in (inputs, other, dict(reversed(inputs.items()))):
            np.testing.assert_array_equal(words(**given)[0], expected[0])
        for arguments, keywords, message in (
                ((), {"y": 1}, r"method 'add' has no input 'y'; the inputs are \['x'\]"),
                ((np.ones(4, np.float32),), {"x": 1}, "input 'x' is given twice")):
            with self.assertRaisesRegex(TypeError, message):
                add(*arguments, **keywords)
        with self.assertRaisesRegex(TypeError, "of method 'forward' are not given"):
            words(**dict(list(other.items())[:1]))

    def test_methods_share_state_and_modules_do_not(self):
        module, other = petrel.load_compiled(COUNTER), petrel.load_compiled(COUNTER)
        self.assertEqual(sorted(module), ["add", "read"])
        ones = np.ones(4, np.float32)
        first, = module["add"](ones)
        second, = module["add"](ones)
        np.testing.assert_array_equal(first, [2, 3, 4, 5])  # an array of its own
        np.testing.assert_array_equal(second, [3, 4, 5, 6])
        np.testing.assert_array_equal(module["read"]()[0], [30, 40, 50, 60])
        np.testing.assert_array_equal(other["read"]()[0], [10, 20, 30, 40])
        module.reset_state()
        np.testing.assert_array_equal(module["read"]()[0], [10, 20, 30, 40])

    def test_calls_of_threads_wait_for_each_other(self):
        module = petrel.load_compiled(COUNTER)
        add, ones = module["add"], np.ones(4, np.float32)
        threads = [threading.Thread(target=lambda: [add(ones) for _ in range(200)])
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(module["read"]()[0], [8010, 8020, 8030, 8040])

    def test_what_does_not_fit_is_refused_by_name(self):
        module = petrel.load_compiled(COUNTER)
        for arguments, message in (
                ((), "method 'add' takes 1 inputs, 0 are given"),
                ((3,), "input 'x' is a int, must be an array"),
                ((np.ones(5, np.float32),), r"input 'x' is float32\[5\], must be float32\[4\]"),
                ((np.ones(4),), r"input 'x' is float64\[4\], must be float32\[4\]")):
            with self.assertRaisesRegex(petrel.Error, message):
                module["add"](*arguments)
        with self.assertRaisesRegex(KeyError, "there is no method 'forward'"):
            module["forward"]

    def test_files_that_are_no_modules_are_refused_before_their_code_runs(self):
        for path, message in (
                ("no.so", "No such file"),
                ("examples/quickstart/digits.pt2", "a shared library begins with 7f 45 4c 46"),
                (petrel._petrel.__file__, "has no section .petrel")):
            with self.assertRaisesRegex(petrel.Error, message):
                petrel.load_compiled(path)


if __name__ == "__main__":
    unittest.main()
