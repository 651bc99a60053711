# SPDX-License-Identifier: Apache-2.0
"""Several methods, partitions and backends: what preprocess_all sees and returns.

One test for each behaviour that multi-method lowering has.
"""

import json
import pathlib
import unittest

import numpy
import petrel
from elementwise import ADD, MUL, RELU, SUB, Backend, Runtime, affine, model

VARYING = pathlib.Path("test/models/varying")

X = numpy.array([1, -2, 3, 0.5], numpy.float32)
Y = numpy.array([2, 2, -1, 4], numpy.float32)


class MethodsTest(unittest.TestCase):

    def run_all(self, program, backends=None, **expected):
        """Every method gives what is expected; returns the runtime half."""
        runtime = Runtime()
        loaded = petrel.load(program, backends=[runtime] if backends is None else backends)
        self.assertEqual(list(loaded), sorted(expected))
        for name, (inputs, output) in expected.items():
            numpy.testing.assert_allclose(loaded[name](*inputs)[0], output, rtol=1e-6)
        return runtime

    def test_single_method(self):
        backend = Backend()
        program = petrel.export(model("affine"), backend=backend)
        self.assertEqual(backend.calls, 1)
        self.assertEqual(backend.seen, {"forward": [[MUL, ADD]]})
        self.run_all(program, forward=((X,), affine(X)))

    def test_two_methods(self):
        backend = Backend()
        program = petrel.export(methods={"one": model("affine"),
                                         "two": model("affine_same_scale")}, backend=backend)
        self.assertEqual(backend.calls, 1)
        self.assertEqual(backend.seen, {"one": [[MUL, ADD]], "two": [[MUL, ADD]]})
        self.run_all(program, one=((X,), affine(X)), two=((X,), affine(X, shift=1.5)))

    def test_multiple_partitions(self):
        backend = Backend()
        program = petrel.export(model("affine_three_parts"), backend=backend)
        self.assertEqual(backend.seen, {"forward": [[MUL, ADD]] * 3})
        runtime = self.run_all(program, forward=((X,), affine(X, parts=3)))
        executed = [event[2] for event in runtime.events if event[0] == "execute"]
        self.assertEqual(executed, [0, 1, 2])

    def test_different_partitions(self):
        """Methods have different numbers of partitions, one of them none."""
        backend = Backend()
        program = petrel.export(methods={"none": model("sub"), "one": model("affine"),
                                         "three": model("affine_three_parts")}, backend=backend)
        self.assertEqual({method: parts for method, parts in backend.seen.items() if parts},
                         {"one": [[MUL, ADD]], "three": [[MUL, ADD]] * 3})
        self.run_all(program, none=((X, Y), X - Y), one=((X,), affine(X)),
                     three=((X,), affine(X, parts=3)))

    def test_sequential_delegates(self):
        """Each delegate of a method takes what the one before it gave."""
        program = petrel.export(model("affine_two_parts"), backend=Backend())
        loaded = petrel.load(program, backends=[Runtime()])
        self.assertEqual(loaded["forward"].backends, ["Elementwise"] * 2)
        numpy.testing.assert_allclose(loaded["forward"](X)[0], affine(X, parts=2), rtol=1e-6)

    def test_constants(self):
        """Equal weights of methods and partitions become one piece of data."""
        one = petrel.export(model("affine"), backend=Backend()).report()
        backend = Backend()
        program = petrel.export(methods={"one": model("affine"),
                                         "other": model("affine_same_scale"),
                                         "two": model("affine_two_parts")}, backend=backend)
        report = program.report()
        # scale and the shift 0.5 of the first, and the shift 1.5 of the second.
        self.assertEqual(one["weight_bytes"], 32)
        self.assertEqual(report["weight_bytes"], 48)
        self.assertEqual(report["shared_weight_bytes"], 80)
        self.run_all(program, one=((X,), affine(X)), other=((X,), affine(X, shift=1.5)),
                     two=((X,), affine(X, parts=2)))

    def test_not_found(self):
        with self.assertRaisesRegex(petrel.Error, "backend 'Nowhere' is unknown") as caught:
            petrel.export(methods={"one": model("affine")}, backend="Nowhere")
        self.assertEqual(caught.exception.code, "NotFound")
        program = petrel.export(model("affine"), backend=Backend("Nowhere"))
        with self.assertRaisesRegex(petrel.Error, "Nowhere"):
            petrel.load(program, backends=[Runtime("Elsewhere")])["forward"](X)

    def test_results_must_be_one_for_each_partition(self):
        for method, count in (("one", 0), ("one", 2), ("two", 1)):
            backend = Backend()
            whole = backend.preprocess_all

            def cut(programs, store, method=method, count=count, whole=whole):
                results = whole(programs, store)
                results[method] = (results[method] * 2)[:count]
                return results

            backend.preprocess_all = cut
            with self.assertRaisesRegex(petrel.Error, f"method '{method}'") as caught:
                petrel.export(methods={"one": model("affine"),
                                       "two": model("affine_two_parts")}, backend=backend)
            self.assertIn("Elementwise", str(caught.exception))

    def test_end_to_end(self):
        """State of two methods, delegated in part, as eager torch computes it."""
        folder = pathlib.Path("test/models/state")
        prompt, tokens, logits = (numpy.load(folder / f"decoder.{name}.npy")
                                  for name in ("prompt", "tokens", "logits"))
        backend = Backend()
        program = petrel.export(methods={"prefill": folder / "decoder.prefill.pt2",
                                         "decode": folder / "decoder.decode.pt2"},
                                backend=backend)
        self.assertGreater(sum(len(parts) for parts in backend.seen.values()), 1)
        loaded = petrel.load(program, backends=[Runtime()])
        self.check_decoder(loaded, prompt, tokens, logits)

    def check_decoder(self, loaded, prompt, tokens, logits):
        token = None
        for i, expected in enumerate(tokens.reshape(-1)):
            if i == 0:
                scores, token = loaded["prefill"](prompt.reshape(1, -1))
            else:
                position = numpy.array([prompt.size + i - 1])
                scores, token = loaded["decode"](token, position)
            self.assertEqual(int(token.reshape(-1)[0]), int(expected), i)
            numpy.testing.assert_allclose(scores.reshape(-1),
                                          logits.reshape(tokens.size, -1)[i], atol=1e-4)

    def test_payloads_of_equal_parts_are_shared(self):

        class Same(Backend):

            def payload(self, part, store):
                return b"x" * 10000

        program = petrel.export(model("affine_three_parts"), backend=Same())
        self.assertLess(program.report()["file_bytes"]["program"], 20000)


class DifferentBackendsTest(unittest.TestCase):
    """Programs of different backends side by side in one process."""

    def test_programs_of_different_backends_run_side_by_side(self):
        adds = petrel.export(model("add_mul_sub"), backend=Backend("Adds", (ADD,)))
        rest = petrel.export(model("add_mul_sub"), backend=Backend("Rest", (MUL, SUB)))
        first, second = Runtime("Adds"), Runtime("Rest")
        for program, runtime, other in ((adds, first, second), (rest, second, first)):
            forward = petrel.load(program, backends=[other, runtime])["forward"]
            self.assertEqual(set(forward.backends), {runtime.id})
            numpy.testing.assert_array_equal(forward(X, Y)[0], (X + Y) * Y - X)

    def test_several_backends_in_order_of_priority(self):
        """Each takes what those before it left, and is asked once."""
        for chosen, seen in (((ADD,), (MUL, SUB)), [[ADD], [MUL, SUB]]), \
                (((ADD, MUL, SUB), (MUL, SUB)), [[ADD, MUL, SUB], None]):
            backends = [Backend("First", chosen[0]), Backend("Second", chosen[1])]
            program = petrel.export(methods={"a": model("add_mul_sub"), "b": model("add_mul_sub")},
                                    backend=backends)
            for backend, ops in zip(backends, seen):
                self.assertEqual({method: parts for method, parts in backend.seen.items() if parts},
                                 {} if ops is None else {"a": [ops], "b": [ops]})
                self.assertLessEqual(backend.calls, 1)
            loaded = petrel.load(program, backends=[Runtime("First"), Runtime("Second")])
            self.assertEqual(loaded["a"].backends,
                             ["First"] if seen[1] is None else ["First", "Second"])
            for name in ("a", "b"):
                numpy.testing.assert_array_equal(loaded[name](X, Y)[0], (X + Y) * Y - X)

    def test_methods_may_go_to_different_backends(self):
        adds, rest = Backend("Adds", (ADD,)), Backend("Rest", (MUL, SUB))
        names = ("adds", "both", "kernels", "rest")
        program = petrel.export(
            methods={name: model("add_mul_sub") for name in names},
            backend={"adds": adds, "both": [rest, adds], "kernels": None, None: [rest]})
        self.assertEqual(sorted(method for method, parts in adds.seen.items() if parts),
                         ["adds", "both"])
        self.assertEqual(sorted(method for method, parts in rest.seen.items() if parts),
                         ["both", "rest"])
        self.assertEqual((adds.calls, rest.calls), (1, 1))
        loaded = petrel.load(program, backends=[Runtime("Adds"), Runtime("Rest")])
        self.assertEqual({name: sorted(loaded[name].backends) for name in names},
                         {"adds": ["Adds"], "both": ["Adds", "Rest"], "kernels": [],
                          "rest": ["Rest"]})
        for name in names:
            numpy.testing.assert_array_equal(loaded[name](X, Y)[0], (X + Y) * Y - X)

    def test_methods_that_are_not_named_go_to_xnnpack(self):
        program = petrel.export(methods={"a": model("affine"), "b": model("affine")},
                                backend={"a": Backend()}, partition="supported")
        loaded = petrel.load(program, backends=[Runtime()])
        self.assertEqual(loaded["a"].backends, ["Elementwise"])
        self.assertEqual(loaded["b"].backends, ["XnnpackBackend"])
        for name in "ab":
            numpy.testing.assert_allclose(loaded[name](X)[0], affine(X), rtol=1e-6)

    def test_one_beside_xnnpack(self):
        mine = Backend("Mine", (MUL,))
        for backend, expected in (([mine, "xnnpack"], ["Mine", "XnnpackBackend"]),
                                  (["xnnpack", mine], ["XnnpackBackend"])):
            program = petrel.export(model("affine"), backend=backend, partition="supported")
            forward = petrel.load(program, backends=[Runtime("Mine")])["forward"]
            self.assertEqual(forward.backends, expected)
            numpy.testing.assert_allclose(forward(X)[0], affine(X), rtol=1e-6)

    def test_compile_specs_reach_their_backend(self):
        given = {}

        class Knows(Backend):

            def check_compile_specs(self, specs):
                given[self.id] = specs

        backends = [Knows("First", (ADD,)), Knows("Second", (MUL,))]
        petrel.export(model("affine"), backend=backends,
                      compile_specs={"First": {"tile": "8"}, "Second": {"a": b"\0", "b": "c"}})
        self.assertEqual(given, {"First": [("tile", b"8")],
                                 "Second": [("a", b"\0"), ("b", b"c")]})
        for specs, error, text in (
            ({"tile": "8"}, ValueError, "'tile' names no backend"),
            ({"Third": {"tile": "8"}}, ValueError, "'Third', which is not used"),
            ({"First": {"tile": 8}}, TypeError, "compile spec 'tile' is 8"),
            ({"First": {"tile": "8"}, "Second": b"x"}, TypeError, "must be a dict"),
        ):
            with self.assertRaisesRegex(error, text):
                petrel.export(model("affine"), backend=backends, compile_specs=specs)

    def test_unknown_backends_are_told_with_method_and_index(self):
        for backend, text in (
            (["xnnpack", "Nowhere"], "backend 'Nowhere' is unknown, backend 1 of all methods"),
            ({"one": ["xnnpack", "Nowhere"]},
             "backend 'Nowhere' is unknown, backend 1 of method 'one'"),
        ):
            with self.assertRaisesRegex(petrel.Error, text) as caught:
                petrel.export(methods={"one": model("affine")}, backend=backend)
            self.assertEqual(caught.exception.code, "NotFound")
        with self.assertRaisesRegex(petrel.Error, "method 'other', which is not there; the "
                                    "methods are one"):
            petrel.export(methods={"one": model("affine")}, backend={"other": "xnnpack"})
        for backend in ([None], ["xnnpack", ["xnnpack"]], {"one": {"one": "xnnpack"}}, {3: None}):
            with self.assertRaises(TypeError, msg=backend):
                petrel.export(methods={"one": model("affine")}, backend=backend)

    def test_duplicate_backends_are_told(self):
        for backend, text in (
            ([Backend("A"), Backend("B"), Backend("A")],
             "backend 'A' is given twice for all methods, as backends 0 and 2"),
            ({"one": ["xnnpack", "xnnpack"]},
             "backend 'XnnpackBackend' is given twice for method 'one', as backends 0 and 1"),
            ({"one": Backend("A"), None: [Backend("A")]},
             "backend 0 of method 'one' has the id 'A', which another backend has, too"),
        ):
            with self.assertRaisesRegex(petrel.Error, text) as caught:
                petrel.export(methods={"one": model("affine")}, backend=backend)
            self.assertEqual(caught.exception.code, "InvalidArgument")

    def test_whole_methods_or_an_error_that_names_the_node(self):
        backend = Backend("Whole", (ADD, MUL, SUB))
        program = petrel.export(methods={"a": model("affine"), "b": model("add_mul_sub")},
                                backend=backend, whole_methods=True)
        self.assertEqual({method: len(parts) for method, parts in backend.seen.items()},
                         {"a": 1, "b": 1})
        loaded = petrel.load(program, backends=[Runtime("Whole")])
        numpy.testing.assert_allclose(loaded["a"](X)[0], affine(X), rtol=1e-6)
        with self.assertRaisesRegex(petrel.Error, "cannot take the whole method") as caught:
            petrel.export(methods={"two": model("affine_two_parts")}, backend=backend,
                          whole_methods=True)
        self.assertEqual(caught.exception.node, "sigmoid")
        self.assertRegex(caught.exception.source, r"make_models\.py:\d+, in forward")

    def test_payload_is_json_of_its_own_part(self):
        payloads = {}

        class Keep(Backend):

            def payload(self, part, store):
                made = super().payload(part, store)
                payloads[part.method, part.index] = json.loads(made)
                return made

        petrel.export(methods={"a": model("affine"), "b": model("affine_two_parts")},
                      backend=Keep())
        self.assertEqual(sorted(payloads), [("a", 0), ("b", 0), ("b", 1)])
        for (method, index), payload in payloads.items():
            self.assertEqual((payload["method"], payload["index"]), (method, index))


class ControlFlowTest(unittest.TestCase):
    """Partitions inside of branches and loops; results are those of eager torch."""

    def check(self, name, ops, expected):
        """`expected` partitions, and which of them each call executes."""
        backend, runtime = Backend(ops=ops), Runtime()
        program = petrel.export(methods={"forward": VARYING / f"{name}.pt2",
                                         "other": model("affine")}, backend=backend)
        self.assertEqual(backend.calls, 1)
        self.assertEqual(sorted(backend.seen["forward"]), sorted(expected))
        loaded = petrel.load(program, backends=[runtime])
        self.assertEqual(len(loaded["forward"].backends), len(expected))
        executed = []
        calls = sorted({path.name.split(".")[1] for path in VARYING.glob(f"{name}.call_*.npy")})
        for call in calls:
            inputs, outputs = ([numpy.load(path) for path in
                                sorted(VARYING.glob(f"{name}.{call}.{kind}_*.npy"))]
                               for kind in ("input", "output"))
            del runtime.events[:]
            found = loaded["forward"](*inputs)
            self.assertEqual(len(found), len(outputs))
            for actual, wanted in zip(found, outputs):
                numpy.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-6)
            executed.append([index for event, _, index, *_ in runtime.events if event == "execute"])
        numpy.testing.assert_allclose(loaded["other"](X)[0], affine(X), rtol=1e-6)
        return executed

    def test_partitions_inside_branches(self):
        first, second = self.check("cond", (MUL, SUB), [[MUL], [MUL, SUB]])
        # One call takes the one branch, the other the other.
        self.assertEqual((len(first), len(second)), (1, 1))
        self.assertNotEqual(first, second)

    def test_partitions_inside_nested_branches(self):
        executed = self.check("cond_nested", (ADD, MUL, SUB), [[ADD], [ADD], [MUL], [MUL], [SUB]])
        self.assertEqual(len({tuple(call) for call in executed}), len(executed))

    def test_partitions_inside_a_map(self):
        # Once for each of the five rows.
        self.assertEqual(self.check("map_rows", (RELU,), [[RELU]]), [[0] * 5] * 2)

    def test_backends_share_the_branches(self):
        backends = [Backend("Muls", (MUL,)), Backend("Subs", (SUB,))]
        program = petrel.export(VARYING / "cond.pt2", backend=[*backends, "xnnpack"])
        loaded = petrel.load(program, backends=[Runtime("Muls"), Runtime("Subs")])
        self.assertEqual([len(backend.seen["forward"]) for backend in backends], [2, 1])
        self.assertLessEqual({"Muls", "Subs", "XnnpackBackend"}, set(loaded["forward"].backends))
        for call in range(2):
            inputs, wanted = (numpy.load(VARYING / f"cond.call_{call}.{kind}_0.npy")
                              for kind in ("input", "output"))
            numpy.testing.assert_allclose(loaded["forward"](inputs)[0], wanted, rtol=1e-5,
                                          atol=1e-6)


if __name__ == "__main__":
    unittest.main()
