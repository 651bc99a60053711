# SPDX-License-Identifier: Apache-2.0
"""Named data, from the store of the compiler to the map of the runtime.

Tests are numbered by the rows of the contract that they show: NB-1 to NB-12.
"""

import gc
import json
import os
import pathlib
import tempfile
import threading
import unittest
import weakref

import numpy
import petrel
from elementwise import Backend, Runtime, affine, check_note, model

DIGITS = pathlib.Path("examples/quickstart/digits.pt2")
X = numpy.array([1, -2, 3, 0.5], numpy.float32)


class Failure(Exception):
    """Not one of Petrel's."""


def folder():
    return pathlib.Path(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]))


class Store(Backend):
    """Lets a test use the store."""

    def __init__(self, use):
        super().__init__()
        self.use = use

    def preprocess_all(self, programs, store):
        self.answer = self.use(store)
        return super().preprocess_all(programs, store)


def with_store(use, **options):
    """What `use` returned, and the program."""
    backend = Store(use)
    program = petrel.export(model("affine"), backend=backend, **options)
    return backend.answer, program


class StoreTest(unittest.TestCase):

    def test_nb1_tells_whether_the_key_has_these_bytes(self):
        def use(store):
            return [store.add_named_blob("k", b"abc"), store.add_named_blob("k", b"abc"),
                    store.add_named_blob("k", b"abd"), store.add_named_blob("l", b"abd")]

        self.assertEqual(with_store(use)[0], [True, True, False, True])

    def test_nb1_equal_bytes_under_two_keys_are_written_once(self):
        blob = numpy.random.default_rng(0).bytes(10000)

        def use(store):
            return [store.add_named_blob(key, blob, alignment)
                    for key, alignment in (("a", 16), ("b", 64))]

        plain = petrel.export(model("affine"), backend=Backend()).report()
        answer, program = with_store(use)
        self.assertEqual(answer, [True, True])
        self.assertEqual(program.report()["weight_bytes"] - plain["weight_bytes"], 10000)
        self.assertEqual(program.report()["shared_weight_bytes"], 10000)

    def test_nb1_bad_arguments_are_told(self):
        cases = ((("", b"x"), "key"), (("a\0b", b"x"), "NUL"), (("k", b"x", 0), "alignment"),
                 (("k", b"x", 3), "alignment"), (("k", b"x", 1 << 40), "alignment"),
                 (("k", b"x", 16, "a/b"), "a/b"), (("k", b"x", 16, ".."), r"\.\."),
                 (("k", b"x", 16, "/abs"), "/abs"), (("k" * (1 << 20), b"long"), "1023"))

        def use(store):
            for arguments, text in cases:
                with self.assertRaisesRegex(petrel.Error, text) as caught:
                    store.add_named_blob(*arguments)
                self.assertEqual(caught.exception.code, "InvalidArgument")
            with self.assertRaises(TypeError):
                store.add_named_blob("k", 3)
            self.assertTrue(store.add_named_blob("k" * 1023, b"long"))
            self.assertTrue(store.add_named_blob("%s%n", b"format"))

        with_store(use)

    def test_bad_external_file_names_are_told(self):
        def use(store):
            for name in ("a/b", "..", ".", "/abs", "a\\b", "x" * 256):
                with self.assertRaisesRegex(petrel.Error, "is not a plain file name") as caught:
                    store.add_named_blob("k", b"x", 16, name)
                self.assertEqual(caught.exception.code, "InvalidArgument")
            self.assertEqual(list(store.keys()), [])

        with_store(use)

    def test_nb2_external_files_are_grouped_by_name(self):
        def use(store):
            store.add_named_blob("blob1", b"1" * 100, 16, "external_file1.ptd")
            store.add_named_blob("blob2", b"2" * 100, 16, "external_file2.ptd")
            store.add_named_blob("blob3", b"3" * 100, 16, "external_file1.ptd")
            with self.assertRaisesRegex(petrel.Error, "blob1"):
                store.add_named_blob("blob1", b"1" * 100, 16, "external_file2.ptd")

        _, program = with_store(use)
        files = {os.path.basename(path): pathlib.Path(path).read_bytes()
                 for path in program.external_paths}
        self.assertEqual(sorted(files), ["external_file1.ptd", "external_file2.ptd"])
        for name, keys in (("external_file1.ptd", {b"blob1", b"blob3"}),
                           ("external_file2.ptd", {b"blob2"})):
            for key in (b"blob1", b"blob2", b"blob3"):
                self.assertEqual(key in files[name], key in keys)
        _, again = with_store(use)
        for one, other in zip(program.external_paths, again.external_paths):
            self.assertEqual(pathlib.Path(one).read_bytes(), pathlib.Path(other).read_bytes())

    def test_nb3_store_belongs_to_the_export(self):
        kept = []
        with_store(kept.append)
        with self.assertRaisesRegex(petrel.Error, "during preprocess only"):
            kept[0].keys()

    def test_nb4_preprocess_gets_the_store(self):
        class Each(petrel.Backend):
            id = "Elementwise"
            partitioner = Backend().partitioner

            def preprocess(self, part, store):
                return Backend().payload(part, store)

        program = petrel.export(model("affine"), backend=Each())
        out, = petrel.load(program, backends=[Runtime()])["forward"](X)
        numpy.testing.assert_array_equal(out, affine(X))

    def test_nb5_one_result_for_each_subprogram_in_order(self):
        class Order(Backend):

            def preprocess_all(self, programs, store):
                return {method: [f"{method}{part.index}".encode() for part in parts]
                        for method, parts in programs.items()}

        payloads = []

        class Record(Runtime):

            def init(self, payload, named_data, *, compile_specs, method):
                payloads.append(payload)

            def execute(self, handle, args):
                pass

            def destroy(self, handle):
                pass

        program = petrel.export(methods={"a": model("affine_two_parts"), "b": model("affine")},
                                backend=Order())
        loaded = petrel.load(program, backends=[Record()])
        loaded["b"](X)
        loaded["a"](X)
        self.assertEqual(payloads, [b"b0", b"a0", b"a1"])

    def test_nb5_whole_methods_are_lists_of_one(self):
        backend = Backend()
        petrel.export(methods={"a": model("affine"), "b": model("affine_same_scale")},
                      backend=backend, whole_methods=True)
        self.assertEqual({method: len(parts) for method, parts in backend.seen.items()},
                         {"a": 1, "b": 1})

    def test_mutable_bytes_are_copied_and_others_held(self):
        array = numpy.ones(100, numpy.float32)
        held = b"held" * 1000
        holder = [held]

        def use(store):
            store.add_named_blob("array", array)
            array[:] = 2
            store.add_named_blob("held", holder.pop())

        del held
        _, program = with_store(use)
        data = pathlib.Path(program.path).read_bytes()
        self.assertIn(numpy.ones(100, numpy.float32).tobytes(), data)
        self.assertIn(b"held" * 1000, data)


class Map(petrel.NamedDataMap):
    """The weights of a file, kept in a dict."""

    def __init__(self, weights):
        self.weights = weights
        self.asked = []

    def get_data(self, key):
        self.asked.append(key)
        return self.weights[key]

    def keys(self):
        return self.weights.keys()


class WithoutWeights(unittest.TestCase):
    """A program without its weights."""

    @classmethod
    def setUpClass(cls):
        cls.program = petrel.export(model("affine"), backend=None, external_weights="w.ptd")
        cls.weights = {"scale": numpy.array([1, 2, 3, 4], numpy.float32),
                       "shift": numpy.full(4, 0.5, numpy.float32)}

    def run_with(self, *data, **options):
        return petrel.load(self.program.path, data=data, **options)["forward"](X)[0]


class DataMapTest(WithoutWeights):
    """Where weights may come from."""

    def test_nb6_subclass_serves_data_by_key(self):
        numpy.testing.assert_array_equal(self.run_with(Map(self.weights)), affine(X))
        as_bytes = {key: value.tobytes() for key, value in self.weights.items()}
        numpy.testing.assert_array_equal(self.run_with(Map(as_bytes)), affine(X))
        numpy.testing.assert_array_equal(
            self.run_with(Map({key: memoryview(value) for key, value in as_bytes.items()})),
            affine(X))

    def test_nb6_functions_of_the_contract_can_be_overridden(self):

        class Indexed(Map):

            def keys(self):
                raise AssertionError

            def get_num_keys(self):
                return 2

            def get_key(self, index):
                return ["scale", "shift"][index]

        numpy.testing.assert_array_equal(self.run_with(Indexed(self.weights)), affine(X))

    def test_nb6_badly_aligned_data_are_copied(self):
        odd = {}
        for key, value in self.weights.items():
            place = numpy.zeros(17 + value.nbytes, numpy.uint8)
            odd[key] = place[1:1 + value.nbytes]
            odd[key][:] = numpy.frombuffer(value.tobytes(), numpy.uint8)
        numpy.testing.assert_array_equal(self.run_with(Map(odd)), affine(X))

    def test_nb7_keys_in_any_order_are_found(self):
        for names in (["shift", "scale"], ["scale", "shift"], ["shift", "a", "scale", "z"]):
            given = {name: self.weights.get(name, numpy.zeros(3, numpy.uint8)) for name in names}
            numpy.testing.assert_array_equal(self.run_with(Map(given)), affine(X))

    def test_nb8_several_sources_are_one(self):
        scale = Map({"scale": self.weights["scale"]})
        shift = Map({"shift": self.weights["shift"]})
        numpy.testing.assert_array_equal(self.run_with(scale, shift), affine(X))
        # A file and a map that agree about a key.
        numpy.testing.assert_array_equal(
            self.run_with(self.program.external_paths[0], Map(self.weights)), affine(X))

    def test_nb8_one_key_with_different_bytes_is_an_error(self):
        other = Map({"scale": numpy.zeros(4, numpy.float32)})
        with self.assertRaisesRegex(petrel.Error, "scale") as caught:
            self.run_with(Map(self.weights), other)
        self.assertEqual(caught.exception.code, "InvalidExternalData")

    def test_nb9_data_are_asked_for_when_a_method_loads_and_given_back(self):
        asked = Map(self.weights)
        loaded = petrel.load(self.program.path, data=[asked])
        self.assertEqual(asked.asked, [])
        loaded["forward"].load()
        self.assertEqual(sorted(set(asked.asked)), ["scale", "shift"])
        array = numpy.array([1, 2, 3, 4], numpy.float32)
        gone = weakref.ref(array)
        asked.weights = {}
        self.weights = {"scale": array, "shift": self.weights["shift"]}
        again = petrel.load(self.program.path, data=[Map(self.weights)])
        again["forward"](X)
        self.weights = None
        del array
        gc.collect()
        del again, loaded
        gc.collect()
        self.assertIsNone(gone())

    def test_nb9_a_backend_changes_its_copy_only(self):

        class Doubles(Runtime):
            """Changes the weights it got, after which nobody else sees a change."""

            def init(self, payload, named_data, *, compile_specs, method):
                part = super().init(payload, named_data, compile_specs=compile_specs,
                                    method=method)
                for name, constant in part["constants"].items():
                    changed = constant.copy()
                    changed *= 2
                    part["constants"][name] = changed
                key = named_data.keys()[0]
                again = named_data.get_data(key)
                assert again == named_data.get_data(key)
                assert isinstance(again, bytes)  # which nobody can change
                return part

        program = petrel.export(model("affine"), backend=Backend(), external_weights="w.ptd")
        before = pathlib.Path(program.external_paths[0]).read_bytes()
        doubled = petrel.load(program, backends=[Doubles()])["forward"]
        plain = petrel.load(program, backends=[Runtime()])["forward"]
        for _ in range(2):
            numpy.testing.assert_array_equal(doubled(X)[0], 2 * affine(X))
            numpy.testing.assert_array_equal(plain(X)[0], affine(X))
        self.assertEqual(pathlib.Path(program.external_paths[0]).read_bytes(), before)

    def test_nb9_data_cannot_be_resized_while_a_method_uses_them(self):
        scale = bytearray(self.weights["scale"].tobytes())
        loaded = petrel.load(self.program.path,
                             data=[Map({"scale": scale, "shift": self.weights["shift"]})])
        loaded["forward"](X)
        with self.assertRaises(BufferError):
            scale.extend(b"x")
        del loaded
        gc.collect()
        scale.extend(b"x")

    def test_nb9_many_threads_load_and_run_over_one_map(self):
        shared = Map(self.weights)
        wrong = []

        def work():
            for _ in range(20):
                loaded = petrel.load(self.program.path, data=[shared])
                if not numpy.array_equal(loaded["forward"](X)[0], affine(X)):
                    wrong.append(loaded)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_nb10_map_reaches_the_init_of_every_backend(self):
        seen = []

        class Look(Runtime):

            def init(self, payload, named_data, *, compile_specs, method):
                seen.append((method, sorted(named_data.keys())))
                return super().init(payload, named_data, compile_specs=compile_specs,
                                    method=method)

        program = petrel.export(methods={"one": model("affine"), "two": model("affine")},
                                backend=Backend(), external_weights="w.ptd")
        loaded = petrel.load(program, backends=[Look()])
        for name in loaded:
            numpy.testing.assert_array_equal(loaded[name](X)[0], affine(X))
        self.assertEqual([method for method, _ in seen], ["one", "two"])
        self.assertTrue(all(len(keys) == 2 for _, keys in seen), seen)

    def test_nb11_data_inside_and_outside_give_equal_results(self):
        pixels = numpy.fromfile("examples/quickstart/digits.bin", numpy.uint8)[:64]
        image = (pixels / numpy.float32(16)).reshape(1, 1, 8, 8)
        for backend in ("xnnpack", None):
            inside = petrel.load(petrel.export(DIGITS, backend=backend))["forward"](image)[0]
            outside = petrel.load(petrel.export(DIGITS, backend=backend,
                                                external_weights="w.ptd"))["forward"](image)[0]
            numpy.testing.assert_array_equal(inside, outside)

    def test_safetensors_files_are_data_too(self):
        header, content = {}, b""
        for key, value in self.weights.items():
            begin, content = len(content), content + value.tobytes()
            header[key] = {"dtype": "F32", "shape": list(value.shape),
                           "data_offsets": [begin, len(content)]}
        text = json.dumps(header).encode()
        data = len(text).to_bytes(8, "little") + text + content
        path = folder() / "w.safetensors"
        path.write_bytes(data)
        for given in (path, data):
            numpy.testing.assert_array_equal(self.run_with(given), affine(X))

    def test_nb12_map_needs_no_file(self):

        class Formula(petrel.NamedDataMap):
            """Weights that are computed when they are asked for."""

            def get_data(self, key):
                return {"scale": numpy.arange(1, 5, dtype=numpy.float32),
                        "shift": numpy.full(4, 0.5, numpy.float32)}[key]

            def keys(self):
                return ["scale", "shift"]

            def get_tensor_layout(self, key):
                return petrel.TensorLayout("float32", (4,))

        numpy.testing.assert_array_equal(self.run_with(Formula()), affine(X))


class BadMapTest(WithoutWeights):
    """Maps that break their word: an error, and nothing lost."""

    def refused(self, weights, error=petrel.Error, text="", layout=None):
        given = Map(weights)
        if layout is not None:
            given.get_tensor_layout = lambda key: layout
        with self.assertRaisesRegex(error, text) as caught:
            self.run_with(given)
        return caught.exception

    def test_missing_keys_and_short_data_are_told(self):
        self.assertIn(self.refused({"scale": self.weights["scale"]}, text="shift").code,
                      ("NotFound", "InvalidExternalData"))
        self.refused({**self.weights, "shift": b"short"}, text="shift")
        self.refused({**self.weights, "shift": b""}, text="shift")

    def test_keys_that_are_no_texts_are_told(self):
        for key, kind in ((1, "int"), (None, "NoneType"), (("a",), "tuple")):
            self.refused({**self.weights, key: b""}, TypeError,
                         f"of a petrel.NamedDataMap is of type {kind}, must be a str")

    def test_wrong_layouts_are_told(self):
        for layout in (petrel.TensorLayout("float64", (4,)), petrel.TensorLayout("float32", (5,)),
                       petrel.TensorLayout("float32", (2, 2)),
                       petrel.TensorLayout("float32", (-4,)),
                       petrel.TensorLayout("float32", (4,), (1,)),
                       petrel.TensorLayout("float32", (1 << 30, 1 << 30, 1 << 30))):
            self.refused(self.weights, layout=layout)
        self.refused(self.weights, (ValueError, petrel.Error), "no type", layout=petrel.TensorLayout(
            "no type", (4,)))
        self.refused(self.weights, (TypeError, AttributeError), layout=3)

    def test_other_bytes_on_a_second_call_do_no_harm(self):

        class Changes(Map):

            def get_data(self, key):
                self.asked.append(key)
                return numpy.full(4, len(self.asked), numpy.float32)

        changes = Changes(self.weights)
        for _ in range(3):
            self.assertEqual(self.run_with(changes).shape, (4,))

    def test_damaged_data_files_are_told_or_read(self):
        whole = pathlib.Path(self.program.external_paths[0]).read_bytes()
        damaged = folder() / "damaged.ptd"
        told = 0
        cases = [whole[:size] for size in range(0, len(whole), 7)]
        for at in range(len(whole)):
            for byte in (0, 0xFF, whole[at] ^ 0x10):
                cases.append(whole[:at] + bytes([byte]) + whole[at + 1:])
        for data in cases:
            damaged.write_bytes(data)
            try:
                self.assertEqual(self.run_with(damaged).shape, (4,))
            except petrel.Error as error:
                self.assertNotEqual(str(error), "")
                told += 1
        self.assertGreater(told, len(whole) // 7)

    def test_exceptions_come_out_as_they_were_raised(self):

        class Fails(Map):

            def get_data(self, key):
                raise Failure(key)

        with self.assertRaises(Failure) as caught:
            self.run_with(Fails(self.weights))
        check_note(self, "in get_data(", caught.exception)

        class FailsEarly(Map):

            def keys(self):
                raise Failure("keys")

        with self.assertRaises(Failure):
            self.run_with(FailsEarly(self.weights))

    def test_results_that_are_no_bytes_are_told(self):
        for value in (3, "text", None):
            self.refused({**self.weights, "shift": value}, TypeError)
        self.refused({**self.weights, "shift": numpy.zeros((4, 2), numpy.float32)[:, 0]},
                     (ValueError, BufferError, TypeError))
        self.refused({3: b""}, (TypeError, RuntimeError))
        self.refused({"a\0b": b""}, ValueError)


if __name__ == "__main__":
    unittest.main()
