# SPDX-License-Identifier: Apache-2.0
"""export, save, load, call: arguments, results, errors."""

import ctypes
import gc
import json
import os
import pathlib
import pickle
import sys
import tempfile
import unittest
import weakref
import zipfile

import numpy
import petrel
from elementwise import affine, model

DIGITS = pathlib.Path("examples/quickstart/digits.pt2")


def images(count=50):
    data = numpy.fromfile("examples/quickstart/digits.bin", numpy.uint8).reshape(-1, 65)[:count]
    return (data[:, :64] / numpy.float32(16)).reshape(-1, 1, 1, 8, 8), data[:, 64]


def folder():
    return pathlib.Path(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]))


def with_quantized_output(archive, path):
    """Writes the archive of one output once more, with a node that quantises it."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith("models/model.json"):
                model = json.loads(data)
                module = model["graph_module"]
                graph = module["graph"]
                last, wide = graph["nodes"][-1], graph["outputs"][0]["as_tensor"]["name"]
                values = {"input": {"as_tensor": {"name": wide}}, "scale": {"as_float": 0.5},
                          "zero_point": {"as_int": 0}, "quant_min": {"as_int": -128},
                          "quant_max": {"as_int": 127}, "dtype": {"as_scalar_type": 2}}
                graph["nodes"].append({
                    **last, "name": "quantized", "outputs": [{"as_tensor": {"name": "quantized"}}],
                    "target": "torch.ops.quantized_decomposed.quantize_per_tensor.default",
                    "inputs": [{"name": name, "arg": value, "kind": 1}
                               for name, value in values.items()]})
                graph["tensor_values"]["quantized"] = {**graph["tensor_values"][wide], "dtype": 2}
                graph["outputs"][0]["as_tensor"]["name"] = "quantized"
                specs = module["signature"]["output_specs"]
                specs[0]["user_output"]["arg"]["as_tensor"]["name"] = "quantized"
                data = json.dumps(model)
            new.writestr(entry, data)
    return path


class OnlyDlpack:
    """An array of another library: DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class AsBfloat16(OnlyDlpack):
    """uint16 by DLPack, with another type written into it."""

    def __dlpack__(self, **kwargs):
        capsule = self._array.__dlpack__(**kwargs)
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # data, device (two ints), rank, code: the layout of a DLTensor.
        ctypes.c_uint8.from_address(pointer(capsule, b"dltensor") + 20).value = 4
        return capsule


class Negated(OnlyDlpack):
    """As torch.Tensor where its bit for negation is set: its memory has other numbers."""

    def resolve_neg(self):
        return OnlyDlpack(-self._array)


def as_bfloat16(bits):
    return AsBfloat16(bits)


class ExportTest(unittest.TestCase):

    def test_classifies_after_saving_and_loading(self):
        path = folder() / "digits.pte"
        petrel.export(DIGITS).save(path)
        forward = petrel.load(path)["forward"]
        pixels, labels = images()
        right = sum(int(forward(image)[0].argmax()) == label
                    for image, label in zip(pixels, labels))
        self.assertGreaterEqual(right, 45)

    def test_saves_external_weights_beside_the_program(self):
        target = folder()
        program = petrel.export(str(DIGITS), external_weights="w.ptd")
        self.assertEqual([os.path.basename(path) for path in program.external_paths], ["w.ptd"])
        program.save(target / "m.pte")
        self.assertEqual(sorted(os.listdir(target)), ["m.pte", "w.ptd"])
        image = images(1)[0][0]
        inside = petrel.load(petrel.export(DIGITS))["forward"](image)[0]
        for data in (target / "w.ptd", str(target / "w.ptd"), (target / "w.ptd").read_bytes(),
                     bytearray((target / "w.ptd").read_bytes())):
            outside = petrel.load(target / "m.pte", data=[data])["forward"](image)[0]
            numpy.testing.assert_array_equal(outside, inside)
        with self.assertRaises(petrel.Error) as caught:
            petrel.load(target / "m.pte")["forward"](image)
        self.assertEqual(caught.exception.code, "NotFound")

    def test_weights_go_to_files_by_pattern(self):
        target = folder()
        image = images(1)[0][0]
        inside = petrel.load(petrel.export(DIGITS))["forward"](image)[0]
        program = petrel.export(DIGITS, external={"*.bias": "biases.ptd", "*": "rest.ptd"})
        self.assertEqual([os.path.basename(path) for path in program.external_paths],
                         ["biases.ptd", "rest.ptd"])
        program.save(target / "m.pte")
        files = [target / "biases.ptd", target / "rest.ptd"]
        numpy.testing.assert_array_equal(
            petrel.load(target / "m.pte", data=files)["forward"](image)[0], inside)
        with self.assertRaises(petrel.Error):
            petrel.load(target / "m.pte", data=files[:1])["forward"].load()
        limit = 76_000
        cut = petrel.export(DIGITS, external_weights="w.ptd", shard_size=limit)
        self.assertGreater(len(cut.external_paths), 1)
        for path in cut.external_paths:
            self.assertLessEqual(os.path.getsize(path), limit)
        numpy.testing.assert_array_equal(petrel.load(cut)["forward"](image)[0], inside)

    def test_reports_what_was_delegated_and_what_was_not(self):
        report = petrel.export(DIGITS).report()
        method, = report["methods"]
        delegated, = method["delegated"]
        names, = delegated.pop("debug_ids")
        costs, = delegated.pop("costs")
        self.assertLess(costs["delegated_us"], costs["kernels_us"])
        self.assertEqual(delegated, {"backend": "XnnpackBackend", "nodes": 10, "partitions": 1})
        self.assertEqual((names["0"], names["7"]), ("relu", "linear"))
        self.assertIn("delegated      10 nodes to XnnpackBackend in 1 partition", str(report))

    def test_same_model_twice_gives_equal_files(self):
        first, second = petrel.export(DIGITS), petrel.export(DIGITS)
        self.assertEqual(pathlib.Path(first.path).read_bytes(),
                         pathlib.Path(second.path).read_bytes())

    def test_limits_are_named_when_they_are_reached(self):
        program = petrel.export(DIGITS)
        image = images()[0][0]
        for name in ("max_arena_bytes", "max_element_operations", "max_input_bytes"):
            with self.subTest(name):
                with self.assertRaisesRegex(petrel.Error, f"{name}, which is 1"):
                    petrel.load(program, **{name: 1})["forward"](image)

    def test_its_folder_goes_with_the_program(self):
        program = petrel.export(DIGITS)
        path = program.path
        self.assertTrue(os.path.exists(path))
        del program
        gc.collect()
        self.assertFalse(os.path.exists(path))

    def test_error_tells_code_and_file(self):
        with self.assertRaises(petrel.Error) as caught:
            petrel.export("/no/such/model.pt2")
        self.assertEqual(caught.exception.code, "NotFound")
        self.assertIn("/no/such/model.pt2", str(caught.exception))
        self.assertIsNone(caught.exception.node)

    def test_error_about_a_model_tells_the_source_line(self):
        with self.assertRaises(petrel.Error) as caught:
            petrel.export("test/models/fixtures/torch_2_13/unsupported_ops.pt2", backend=None)
        error = caught.exception
        self.assertEqual(error.code, "NotSupported")
        self.assertRegex(error.source, r"make_fixtures\.py:\d+, in forward$")
        self.assertEqual(error.node, "igamma")
        self.assertIn(error.source, str(error))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.code, again.node, again.source),
                         (str(error), error.code, error.node, error.source))

    def test_a_quantized_output_runs_on_kernels(self):
        # A kernel that is missing: //extension/cli:missing_kernels_test, with fewer kernels.
        model = with_quantized_output(DIGITS, folder() / "quantized.pt2")
        image = images(1)[0][0]
        wide, = petrel.load(petrel.export(DIGITS, backend=None))["forward"](image)
        for allowed in (False, True):
            program = petrel.export(model, backend=None, allow_missing_kernels=allowed)
            self.assertEqual(program.report()["methods"][0]["missing_kernels"], [])
            narrow, = petrel.load(program)["forward"](image)
            self.assertEqual(narrow.dtype, numpy.int8)
            numpy.testing.assert_array_equal(
                narrow, numpy.clip(numpy.rint(wide / numpy.float32(0.5)), -128, 127))

    def test_error_tells_the_node_that_its_message_names(self):
        for message, node, source in (
            ("method 'f': node 'conv_3' (aten.conv2d.default) at /a b/m.py:12, in forward: bad",
             "conv_3", "/a b/m.py:12, in forward"),
            ("node 'x' (aten.a) has no kernel", "x", None),
            ("node 'x' (aten.a) at features.0 has no kernel", "x", "features.0"),
            ("1 operator has no kernel: aten.f (1 node, the first is 'f' at m.py:3, in forward)",
             "f", "m.py:3, in forward"),
            ("1 operator is not supported: aten.f.x (node 'f' at m.py:3, in forward; node 'g')",
             "f", "m.py:3, in forward"),
            ("1 operator is not supported: aten.f.x (node 'f')", "f", None),
            ("there is no method to export", None, None),
        ):
            error = petrel._error.from_message("NotSupported", message)
            self.assertEqual((error.node, error.source, str(error)), (node, source, message))

    def test_failed_save_leaves_nothing(self):
        target = folder()
        program = petrel.export(DIGITS, external_weights="m.pte")
        with self.assertRaises(ValueError):
            program.save(target / "m.pte")
        self.assertEqual(os.listdir(target), [])
        with self.assertRaises(FileNotFoundError):
            program.save(target / "none" / "x.pte")
        self.assertEqual(os.listdir(target), [])

    def test_a_zero_in_a_path_ends_none(self):
        program = petrel.export(DIGITS)
        other = program.path + "\0other"
        archive = f"{DIGITS}\0other"
        for wrong in (lambda: petrel.load(other), lambda: petrel.load(program, data=[other]),
                      lambda: petrel.load(pathlib.Path(other)), lambda: petrel.export(archive),
                      lambda: program.save(other), lambda: petrel.list_data(other),
                      lambda: petrel.split_data(other, "o.pte", "o.ptd"),
                      lambda: petrel.merge_data(program.path, [other], "o.pte"),
                      lambda: petrel.load_compiled(other),
                      lambda: petrel.diff(other, program, [images(1)[0]]),
                      lambda: petrel.gen_c(DIGITS, output=other)):
            with self.assertRaisesRegex(ValueError, "embedded null byte"):
                wrong()

    def test_arguments_that_are_wrong_are_told(self):
        for arguments, error in (
            (dict(), ValueError),
            (dict(model=DIGITS, methods={"forward": DIGITS}), ValueError),
            (dict(model=DIGITS, external_weights="a/b.ptd"), ValueError),
            (dict(model=DIGITS, external_weights=".."), ValueError),
            (dict(model=DIGITS, external_weights="program.pte"), ValueError),
            (dict(model=DIGITS, external={"*": "a/b.ptd"}), ValueError),
            (dict(model=DIGITS, external={"no.such.*": "a.ptd"}), petrel.Error),
            (dict(model=DIGITS, external={"": "a.ptd"}), ValueError),
            (dict(model=DIGITS, partition="most"), ValueError),
            (dict(model=DIGITS, weight_keys="sha"), ValueError),
            (dict(model=DIGITS, shard_size=-1), ValueError),
            (dict(model=DIGITS, shard_size="2 files"), ValueError),
            (dict(model=DIGITS, planner="best"), ValueError),
            (dict(model=DIGITS, extenal_weights="a.ptd"), TypeError),
            (dict(model=DIGITS, args=(1,)), TypeError),
            (dict(args=(1,)), TypeError),
            (dict(methods={"a": (DIGITS,)}), TypeError),
            (dict(methods={"": DIGITS}), petrel.Error),
            (dict(methods={"a\0b": DIGITS}), petrel.Error),
            (dict(model=DIGITS, backend=None, compile_specs={"x": b""}), ValueError),
            (dict(model=DIGITS, backend="cuda"), petrel.Error),
            (dict(model=DIGITS, compile_specs={"x": b""}), petrel.Error),
            (dict(model=3), TypeError),
        ):
            with self.assertRaises(error, msg=arguments):
                petrel.export(**arguments)

    def test_works_without_torch(self):
        self.assertNotIn("torch", sys.modules)


class CallTest(unittest.TestCase):

    def setUp(self):
        self.program = petrel.load(petrel.export(DIGITS))
        self.forward = self.program["forward"]
        self.image = images(1)[0][0]
        self.expected = self.forward(self.image)[0]

    def test_methods_are_a_mapping(self):
        self.assertEqual(list(self.program), ["forward"])
        self.assertEqual(len(self.program), 1)
        with self.assertRaisesRegex(KeyError, "no method 'backward'.*forward"):
            self.program["backward"]

    def test_tells_inputs_outputs_and_backends(self):
        info, = self.forward.inputs
        self.assertEqual((info.kind, info.dtype, info.shape, info.is_dynamic),
                         ("Tensor", "float32", (1, 1, 8, 8), False))
        self.assertEqual(self.forward.outputs[0].shape, (1, 10))
        self.assertEqual(self.forward.backends, ["XnnpackBackend"])

    def test_takes_arrays_of_any_layout(self):
        wide = numpy.zeros((1, 1, 8, 16), numpy.float32)
        wide[..., ::2] = self.image
        reverse = numpy.ascontiguousarray(self.image[..., ::-1])[..., ::-1]
        odd = numpy.zeros(64 * 4 + 1, numpy.uint8)[1:].view(numpy.float32).reshape(1, 1, 8, 8)
        odd[...] = self.image
        read_only = self.image.copy()
        read_only.flags.writeable = False
        plain = (ctypes.c_float * 8 * 8 * 1 * 1).from_buffer(self.image.copy())
        for array in (wide[..., ::2], reverse, odd, read_only, numpy.asfortranarray(self.image),
                      plain, memoryview(self.image), OnlyDlpack(self.image),
                      OnlyDlpack(wide[..., ::2])):
            numpy.testing.assert_array_equal(self.forward(array)[0], self.expected)

    def test_takes_the_numbers_of_a_tensor_that_is_still_to_be_negated(self):
        numpy.testing.assert_array_equal(self.forward(Negated(-self.image))[0], self.expected)

    def test_results_are_the_callers_own(self):
        first = self.forward(self.image)[0]
        first += 1
        numpy.testing.assert_array_equal(self.forward(self.image)[0], self.expected)

    def test_views_of_outputs_keep_the_program_alive(self):
        view = self.forward(self.image, copy_outputs=False)[0]
        self.assertFalse(view.flags.writeable)
        self.assertFalse(view.flags.owndata)
        del self.program, self.forward
        gc.collect()
        numpy.testing.assert_array_equal(view, self.expected)

    def test_output_of_one_call_is_an_input_of_the_next(self):
        program = petrel.load(petrel.export(model("affine"), backend=None))["forward"]
        x = numpy.arange(4, dtype=numpy.float32)
        view = program(x, copy_outputs=False)[0]
        numpy.testing.assert_allclose(program(view)[0], affine(affine(x)), rtol=1e-6)

    def test_arguments_and_results_are_given_back(self):
        count = sys.getrefcount(self.image)
        for _ in range(20):
            self.forward(self.image)
            self.forward(OnlyDlpack(self.image))
        self.assertLessEqual(sys.getrefcount(self.image), count + 1)
        array = self.image.copy()
        gone = weakref.ref(array)
        outputs = self.forward(array, copy_outputs=False)
        del array
        gc.collect()
        self.assertIsNone(gone())
        del outputs

    def test_wrong_arguments_are_told(self):
        for arguments, text in (
            ((), "takes 1 inputs, 0 are given"),
            ((self.image, self.image), "takes 1 inputs, 2 are given"),
            ((self.image.astype(numpy.float64),), "input 0 is float64, must be float32"),
            ((self.image[0],), "input 0 has rank 3, must have rank 4"),
            ((3,), "input 0 is a int, must be an array"),
            (("x",), "input 0 is a str, must be an array"),
            ((None,), "input 0 is a NoneType, must be an array"),
        ):
            with self.assertRaisesRegex(petrel.Error, text) as caught:
                self.forward(*arguments)
            self.assertEqual(caught.exception.code, "InvalidArgument")
        for array in (self.image.astype(numpy.complex64), numpy.array(["a"])):
            with self.assertRaises((TypeError, ValueError)):
                self.forward(array)
        wide = numpy.broadcast_to(self.image[0, 0], (1 << 20, 1 << 18, 8, 8))
        with self.assertRaisesRegex(petrel.Error, "input 0 has 17592186044416 elements, "
                                                  "must have at most 64"):
            self.forward(wide)
        with self.assertRaises(petrel.Error):
            self.forward(numpy.zeros((1, 1, 8, 9), numpy.float32))
        numpy.testing.assert_array_equal(self.forward(self.image)[0], self.expected)

    def test_damaged_files_are_errors(self):
        program = petrel.export(DIGITS)
        whole = pathlib.Path(program.path).read_bytes()
        for size in range(0, len(whole), 97):
            with self.assertRaises(petrel.Error):
                petrel.load(whole[:size])
        for at in range(0, len(whole), 11):
            damaged = bytearray(whole)
            damaged[at] ^= 0xff
            try:
                petrel.load(damaged)["forward"](self.image)
            except (petrel.Error, KeyError):
                pass

    def test_a_program_stays_whole_when_what_is_behind_a_view_changes(self):
        program = petrel.export(DIGITS, backend=None)
        room = bytearray(pathlib.Path(program.path).read_bytes())
        forward = petrel.load(memoryview(room).toreadonly())["forward"]
        room[:] = b"\xa5" * len(room)  # weights, too, which are numbers only
        self.assertEqual(forward(self.image)[0].shape, (1, 10))

    def test_options_that_are_wrong_are_told(self):
        program = petrel.export(DIGITS)
        for options, error in ((dict(load_mode="slow"), ValueError),
                               (dict(precedence="mine"), ValueError),
                               (dict(num_threads=-1), petrel.Error),
                               (dict(data=[3]), TypeError),
                               (dict(data="w.ptd"), TypeError),
                               (dict(data=b"FH01"), TypeError),
                               (dict(data=3), TypeError),
                               (dict(backends="xnnpack"), TypeError),
                               (dict(backends=petrel.RuntimeBackend()), TypeError)):
            with self.assertRaises(error):
                petrel.load(program, **options)
        with self.assertRaisesRegex(petrel.Error, "no such file"):
            petrel.load("no such file")

    def test_arguments_of_other_types_are_named(self):
        program = petrel.export(DIGITS)
        for options, said in (
                (dict(num_threads=1.5), "num_threads is 1.5, must be a whole number"),
                (dict(num_threads="2"), "num_threads is '2', must be a whole number"),
                (dict(max_input_bytes=1e9), "max_input_bytes is 1000000000.0, must be a whole"),
                (dict(load_mode=3), "load_mode is 3, must be a text"),
                (dict(precedence=None), "precedence is None, must be a text"),
                (dict(backend_options=["a"]), r"backend_options is \['a'\], must be a dict of"),
                (dict(backend_options={"X": 3}), r"backend_options\['X'\] is 3, must be a dict"),
                (dict(backend_options={"X": {"k": 1.5}}),
                 r"backend_options\['X'\]\['k'\] is 1.5, must be a bool, a whole number or a"),
                (dict(backend_options={"X": {3: 1}}), "the name of an option must be a text")):
            with self.assertRaisesRegex(TypeError, said):
                petrel.load(program, **options)
        for options in (dict(num_threads=2**31), dict(backend_options={"X": {"k": 2**40}})):
            with self.assertRaisesRegex(petrel.Error, "which needs more than 32 bits"):
                petrel.load(program, **options)
        petrel.load(program, num_threads=numpy.int64(2),
                    backend_options={"X": {"path": pathlib.Path("a")}})["forward"].load()

    def test_backends_are_told_options(self):
        program = petrel.export(DIGITS)
        with self.assertRaisesRegex(petrel.Error, "no_such_option"):
            petrel.load(program, backend_options={
                "XnnpackBackend": {"no_such_option": True}})["forward"].load()
        petrel.load(program, backend_options={"Another": {"text": "value", "number": 3}}
                    )["forward"].load()
        for wrong in ({"XnnpackBackend": {"k" * 64: 1}}, {"b" * 64: {"k": 1}},
                      {f"b{i}": {"k": 1} for i in range(9)}):
            with self.assertRaises(ValueError):
                petrel.load(program, backend_options=wrong)

    def test_maps_files_when_asked(self):
        program = petrel.export(DIGITS, external_weights="w.ptd")
        forward = petrel.load(program, load_mode="mmap", num_threads=2)["forward"]
        numpy.testing.assert_allclose(forward(self.image)[0], self.expected, rtol=1e-5)


class TypesTest(unittest.TestCase):

    def test_bfloat16_goes_in_and_out_as_a_tensor(self):
        forward = petrel.load(petrel.export(model("bfloat16"), backend=None))["forward"]
        self.assertEqual(forward.inputs[0].dtype, "bfloat16")
        for other in (numpy.float32, numpy.uint16):
            with self.assertRaisesRegex(petrel.Error, "must be bfloat16"):
                forward(numpy.ones((2, 3), other))
        # The bits of 1.0, 1.5, ...; doubling adds one to the exponent.
        bits = numpy.array([[0x3f80, 0x3fc0, 0x4000], [0xbf80, 0x3e00, 0x4240]], numpy.uint16)
        out, = forward(as_bfloat16(bits))
        self.assertIsInstance(out, petrel.Tensor)
        self.assertEqual((out.dtype, out.shape, out.nbytes), ("bfloat16", (2, 3), 12))
        numpy.testing.assert_array_equal(numpy.asarray(out), bits + 0x80)
        # What came out goes in again, by itself and by DLPack.
        for tensor in (out, OnlyDlpack(out)):
            numpy.testing.assert_array_equal(numpy.asarray(forward(tensor)[0]), bits + 0x100)

    def test_dlpack_copies_when_it_is_asked_to_and_knows_one_device(self):
        forward = petrel.load(petrel.export(model("bfloat16"), backend=None))["forward"]
        out, = forward(as_bfloat16(numpy.full((2, 3), 0x3f80, numpy.uint16)))

        def address(**asked):
            capsule = out.__dlpack__(max_version=(1, 0), **asked)
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            return ctypes.c_void_p.from_address(pointer(capsule, b"dltensor")).value

        memory = numpy.asarray(out).ctypes.data
        for asked in ({}, {"copy": None}, {"copy": False}, {"dl_device": (1, 0)}):
            self.assertEqual(address(**asked), memory, asked)
        self.assertNotEqual(address(copy=True), memory)
        with self.assertRaisesRegex(BufferError, "no other device"):
            out.__dlpack__(dl_device=(2, 0))

    def test_channels_last_inputs_are_not_copied_but_others_are(self):
        forward = petrel.load(petrel.export(model("channels_last"), backend=None))["forward"]
        x = numpy.random.default_rng(0).standard_normal((1, 2, 3, 4)).astype(numpy.float32)
        last = numpy.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        for array in (x, last):
            numpy.testing.assert_array_equal(forward(array)[0], numpy.maximum(x, 0))


if __name__ == "__main__":
    unittest.main()
