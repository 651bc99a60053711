# SPDX-License-Identifier: Apache-2.0
"""Loading and running over the C interface: arguments, results, errors."""

import gzip
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock

import numpy
import petrel_runtime

# test/sdk/run names another folder, for the package as it is installed.
FILES = pathlib.Path(os.environ.get("PETREL_TEST_FILES", "extension/python_runtime/test"))
SAMPLES = pathlib.Path(os.environ.get("PETREL_TEST_SAMPLES", "examples/quickstart/digits.bin"))
INLINE = FILES / "inline.pte"
EXTERNAL, DATA = FILES / "external.pte", FILES / "external.ptd"


def images(count=50):
    data = numpy.fromfile(SAMPLES, numpy.uint8).reshape(-1, 65)[:count]
    return (data[:, :64] / numpy.float32(16)).reshape(-1, 1, 1, 8, 8), data[:, 64]


class Negated:
    """As torch.Tensor where its bit for negation is set: its memory has other numbers."""

    def __init__(self, array):
        self._array = array

    def resolve_neg(self):
        return -self._array

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class RuntimeTest(unittest.TestCase):

    def check(self, program):
        pictures, digits = images()
        method = program["forward"]
        right = sum(int(numpy.argmax(method(picture)[0])) == digit
                    for picture, digit in zip(pictures, digits))
        self.assertGreaterEqual(right, 45)

    def raises(self, code, text):
        return _Raises(self, code, text)

    def test_loads_paths_bytes_and_files(self):
        self.check(petrel_runtime.load(INLINE))
        self.check(petrel_runtime.load(str(INLINE), load_mode="file", num_threads=1))
        self.check(petrel_runtime.load(INLINE.read_bytes()))
        self.check(petrel_runtime.load(bytearray(INLINE.read_bytes())))
        self.check(petrel_runtime.load(io.BytesIO(INLINE.read_bytes())))
        self.check(petrel_runtime.load(numpy.frombuffer(INLINE.read_bytes(), numpy.uint8)))
        with open(INLINE, "rb") as file:
            program = petrel_runtime.load(file)
        self.check(program)
        self.assertEqual({program: 1}[program], 1)

    def test_files_that_the_system_does_not_know_are_read_by_themselves(self):
        folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        path = os.path.join(folder, "program.gz")
        with gzip.open(path, "wb") as file:
            file.write(INLINE.read_bytes())
        with gzip.open(path) as file:
            self.check(petrel_runtime.load(file))
        written = io.BytesIO()
        written.write(INLINE.read_bytes())
        self.check(petrel_runtime.load(written))
        with self.assertRaisesRegex(TypeError, "StringIO gives str"):
            petrel_runtime.load(io.StringIO("text"))

    def test_what_c_would_cut_is_refused(self):
        for options in ({"num_threads": 2**32 + 1},
                        {"backend_options": {"XnnpackBackend": {"num_threads": 2**32}}}):
            with self.raises("InvalidArgument", "needs more than 32 bits"):
                petrel_runtime.load(INLINE, **options)
        with self.assertRaisesRegex(ValueError, "null byte"):
            petrel_runtime.load(INLINE, backend_options={"Xnnpack\0": {"a": 1}})

        class Cut(petrel_runtime.NamedDataMap):

            def get_data(self, key):
                raise KeyError(key)

            def keys(self):
                return ["a\0b"]

        with self.assertRaisesRegex(ValueError, "key 0 of a petrel.NamedDataMap has a NUL"):
            petrel_runtime.load(INLINE, data=[Cut()])

    def test_takes_data_from_files_bytes_and_maps(self):
        self.check(petrel_runtime.load(EXTERNAL, data=[DATA]))
        self.check(petrel_runtime.load(EXTERNAL, data=[DATA.read_bytes()]))
        with open(DATA, "rb") as file:
            self.check(petrel_runtime.load(EXTERNAL, data=[file]))
        with self.assertRaises(TypeError):
            petrel_runtime.load(EXTERNAL, data=str(DATA))

    def test_names_that_are_no_utf8_find_what_they_name(self):
        program = petrel_runtime.load(INLINE.read_bytes().replace(b"forward", b"f\xffrward"))
        name, = program
        self.assertEqual(os.fsencode(name), b"f\xffrward")
        repr(program)
        pictures, _ = images(1)
        self.assertEqual(len(program[name](pictures[0])), 1)
        with self.raises("NotFound", "f\\xffrward"):
            program[name].get_attribute("none")

    def test_what_a_map_raises_comes_out(self):

        class Broken(petrel_runtime.NamedDataMap):
            def keys(self):
                return ["a"]

            def get_data(self, key):
                raise ZeroDivisionError(key)

        program = petrel_runtime.load(EXTERNAL, data=[DATA, Broken()])
        self.check(program)  # nobody asks for its key
        broken = Broken()
        broken.keys = lambda: MAP_KEYS
        with self.assertRaises(ZeroDivisionError):
            petrel_runtime.load(EXTERNAL, data=[broken])["forward"].load()

    def test_knows_inputs_and_outputs(self):
        program = petrel_runtime.load(INLINE)
        self.assertEqual(list(program), ["forward"])
        method = program["forward"]
        self.assertEqual(method.inputs, [petrel_runtime.ValueInfo(
            "Tensor", "float32", (1, 1, 8, 8), (0, 1, 2, 3))])
        self.assertEqual(method.outputs[0].shape, (1, 10))
        with self.assertRaises(KeyError):
            program["none"]  # pylint: disable=pointless-statement

    def test_takes_bfloat16_of_torch_as_bits(self):

        class Tensor:
            dtype = type("dtype", (), {"__str__": lambda self: "torch.bfloat16"})()

            def __init__(self, bits):
                self._bits = bits

            def view(self, dtype):
                return self._bits.view(dtype)

            def __dlpack__(self, **kwargs):
                raise BufferError("NumPy has no bfloat16")

        bits = numpy.arange(12, dtype=numpy.uint16).reshape(3, 4)[:, ::2]
        info = petrel_runtime.ValueInfo("Tensor", "bfloat16", (3, 2), (0, 1))
        torch = types.SimpleNamespace(int16=numpy.int16)
        with unittest.mock.patch.dict(sys.modules, torch=torch):
            value, held = petrel_runtime._value.to_value(Tensor(bits), 0, info, False)
        self.assertEqual((value.dtype, value.rank, value.nbytes), (15, 2, 12))
        numpy.testing.assert_array_equal(held, bits)

    def test_outputs_are_copies_or_views(self):
        method = petrel_runtime.load(INLINE)["forward"]
        first, second = images(2)[0]
        kept, = method(first)
        before = kept.copy()
        view, = method(second, copy_outputs=False)
        numpy.testing.assert_array_equal(kept, before)
        self.assertFalse(view.flags.writeable)
        kept[...] = 0
        del method
        self.assertEqual(view.shape, (1, 10))
        self.assertTrue(numpy.isfinite(view).all())

    def test_takes_arrays_that_do_not_lie_densely(self):
        method = petrel_runtime.load(INLINE)["forward"]
        picture = images(1)[0][0]
        wide = numpy.zeros((1, 1, 8, 16), numpy.float32)
        wide[..., ::2] = picture
        numpy.testing.assert_array_equal(method(wide[..., ::2])[0], method(picture)[0])

    def test_takes_arrays_of_other_byte_order(self):
        method = petrel_runtime.load(INLINE)["forward"]
        picture = images(1)[0][0]
        numpy.testing.assert_array_equal(method(picture.astype(">f4"))[0], method(picture)[0])

    def test_takes_the_numbers_of_a_tensor_that_is_still_to_be_negated(self):
        method = petrel_runtime.load(INLINE)["forward"]
        picture = images(1)[0][0]
        numpy.testing.assert_array_equal(method(Negated(-picture))[0], method(picture)[0])

    def test_copies_no_more_than_there_is_room_for(self):
        method = petrel_runtime.load(INLINE)["forward"]
        endless = numpy.broadcast_to(numpy.float32(1), (1, 1, 2**20, 2**20))
        with self.raises("NotSupported",
                         "input 0 has 1099511627776 elements, must have at most 64"):
            method(endless)

    def test_says_which_input_does_not_fit_and_where(self):
        method = petrel_runtime.load(INLINE)["forward"]
        with self.raises("NotSupported", "is 8, cannot become 9\ninput 0 does not fit"):
            method(numpy.zeros((1, 1, 8, 9), numpy.float32))
        with self.assertRaisesRegex(TypeError, "input 0 has elements of type complex64"):
            method(numpy.zeros((1, 1, 8, 8), numpy.complex64))

    def test_memory_that_a_view_shows_stays(self):
        program = petrel_runtime.load(EXTERNAL, data=[DATA])
        method = program["forward"]
        view, = method(images(1)[0][0], copy_outputs=False)
        with self.raises("InvalidState", "the method is not unloaded: arrays that show"):
            method.unload()
        with self.raises("InvalidState", "the data is not replaced: arrays that show"):
            program.replace_data([DATA])
        self.assertEqual(view.shape, (1, 10))
        del view
        program.replace_data([DATA])
        method.unload()
        self.check(program)

    def test_errors_say_what_is_wrong(self):
        with self.raises("NotFound", "none.pte"):
            petrel_runtime.load("none.pte")
        with self.assertRaisesRegex(ValueError, "null byte"):
            petrel_runtime.load(f"{INLINE}\0.pte")
        with self.assertRaisesRegex(ValueError, "null byte"):
            petrel_runtime.load(EXTERNAL, data=[f"{DATA}\0.ptd"])
        with self.raises("InvalidProgram", ""):
            petrel_runtime.load(b"x" * 100)
        method = petrel_runtime.load(INLINE)["forward"]
        picture = images(1)[0][0]
        with self.raises("InvalidArgument", "takes 1 inputs, 2"):
            method(picture, picture)
        with self.raises("InvalidArgument", "input 0"):
            method(picture.astype(numpy.float64))
        with self.raises("NotSupported", "input 0"):
            method(picture[:, :, :4])
        with self.assertRaises(TypeError):
            method(numpy.zeros(3, "complex64"))
        with self.raises("InvalidArgument", "load_mode is 'fast'"):
            petrel_runtime.load(INLINE, load_mode="fast")
        with self.raises("InvalidArgument", "max_arena_bytes is -1"):
            petrel_runtime.load(INLINE, max_arena_bytes=-1)
        with self.raises("OutOfResources", "max_arena_bytes"):
            petrel_runtime.load(INLINE, max_arena_bytes=1)["forward"](picture)
        self.assertEqual(method(picture)[0].shape, (1, 10))

    def test_arguments_of_other_types_are_named(self):
        for options, said in (
                ({"num_threads": 1.5}, "num_threads is 1.5, must be a whole number"),
                ({"max_input_bytes": "4"}, "max_input_bytes is '4', must be a whole number"),
                ({"load_mode": ["mmap"]}, r"load_mode is \['mmap'\], must be a text"),
                ({"backend_options": {"X": {"k": None}}},
                 r"backend_options\['X'\]\['k'\] is None, must be a bool, a whole number or a")):
            with self.assertRaisesRegex(TypeError, said):
                petrel_runtime.load(INLINE, **options)

    def test_copies_of_outputs_are_held_to_their_limit(self):
        picture = images(1)[0][0]
        method = petrel_runtime.load(INLINE, max_input_bytes=39)["forward"]
        with self.raises("OutOfResources", "copying output 0 needs 40 of max_input_bytes, which is "
                         "39, of which 39 are left"):
            method(picture)
        self.assertEqual(method(picture, copy_outputs=False)[0].shape, (1, 10))

    def test_keeps_nothing_of_data_that_was_replaced(self):
        program = petrel_runtime.load(EXTERNAL, data=[DATA])
        self.check(program)

        class Unknown(petrel_runtime.NamedDataMap):

            def get_data(self, key):
                raise KeyError(key)

            def keys(self):
                return ["another"]

        for _ in range(3):
            program.replace_data([DATA.read_bytes()])
            with self.raises("NotFound", ""):
                program.replace_data([Unknown()])
        self.assertEqual(program._module._maps, [])
        self.check(program)

    def test_replaces_data(self):
        program = petrel_runtime.load(EXTERNAL, data=[DATA])
        self.check(program)
        self.assertEqual(program.replace_data([DATA]), {"changed": 0})
        self.check(program)

    def test_threads_wait_for_each_other(self):
        program = petrel_runtime.load(INLINE)
        failures = []

        def work():
            try:
                self.check(program)
            except BaseException as error:  # pylint: disable=broad-except
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_command_comes_along(self):
        code = "import sys; sys.argv[1:] = ['--version']; " \
            "from petrel_runtime._command import main; main()"
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                              check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(
                                  sys.path)})
        self.assertIn(petrel_runtime.__version__, done.stdout)

    def test_open_files_of_any_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "größe.pte")
            path.write_bytes(INLINE.read_bytes())
            self.check(petrel_runtime.load(path))


class _Raises:
    """An Error with this code, whose text has these words."""

    def __init__(self, test, code, text):
        self._test, self._code, self._text = test, code, text

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self._test.assertIsNotNone(error, "nothing was raised")
        if not isinstance(error, petrel_runtime.Error):
            return False
        self._test.assertEqual(error.code, self._code, error)
        self._test.assertIn(self._text, str(error))
        return True


def _keys_of(program):
    """The keys that a program misses, from what it says of one."""
    try:
        petrel_runtime.load(program)["forward"].load()
    except petrel_runtime.Error as error:
        return [word.strip("'\"") for word in str(error).split() if word[0] in "'\""]
    raise AssertionError("the program needs no data")


MAP_KEYS = _keys_of(EXTERNAL)

if __name__ == "__main__":
    unittest.main()
