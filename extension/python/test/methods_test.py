# SPDX-License-Identifier: Apache-2.0
"""Several methods, partitions and backends: what preprocess_all sees and returns.

One test for each behaviour that multi-method lowering has.
"""

import json
import pathlib
import unittest

import numpy
import petrel
from elementwise import ADD, MUL, SUB, Backend, Runtime, affine, model

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


if __name__ == "__main__":
    unittest.main()
