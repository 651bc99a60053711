# SPDX-License-Identifier: Apache-2.0
"""Both halves of a backend in Python: what they see, and what becomes of errors."""

import gc
import threading
import traceback
import unittest
import weakref

import numpy
import petrel
from elementwise import ADD, MUL, Backend, Partitioner, Runtime, affine, check_note, model

X = numpy.array([1, -2, 3, 0.5], numpy.float32)


class Failure(Exception):
    """Not one of Petrel's."""


class RoundTripTest(unittest.TestCase):

    def test_runs_what_it_compiled(self):
        program = petrel.export(model("affine_two_parts"), backend=Backend())
        runtime = Runtime()
        forward = petrel.load(program, backends=[runtime])["forward"]
        self.assertEqual(forward.backends, ["Elementwise", "Elementwise"])
        numpy.testing.assert_allclose(forward(X)[0], affine(X, parts=2), rtol=1e-6)
        self.assertEqual([event[0] for event in runtime.events],
                         ["init", "init", "execute", "execute"])
        del forward
        gc.collect()
        self.assertEqual(runtime.live, 0)
        self.assertEqual([event[0] for event in runtime.events[-2:]], ["destroy", "destroy"])

    def test_default_preprocess_all_calls_preprocess_on_each(self):

        class Each(petrel.Backend):
            id = "Each"
            partitioner = Partitioner((ADD, MUL))

            def preprocess(self, part, store):
                return petrel.PreprocessResult(f"{part.method} {part.index}".encode(),
                                               {7: part.graph.outputs[0].name})

        program = petrel.export(model("affine_two_parts"), backend=Each())
        payloads = []

        class Record(petrel.RuntimeBackend):
            id = "Each"

            def init(self, payload, named_data, *, compile_specs, method):
                payloads.append((payload, method))

            def execute(self, handle, args):
                args[1][...] = 5

        out, = petrel.load(program, backends=[Record()])["forward"](X)
        self.assertEqual(payloads, [(b"forward 0", "forward"), (b"forward 1", "forward")])
        numpy.testing.assert_array_equal(out, [5] * 4)

    def test_compile_specs_reach_both_halves(self):

        class Specs(Backend):

            def check_compile_specs(self, specs):
                self.checked = specs

            def payload(self, part, store):
                self.of_part = part.compile_specs
                return super().payload(part, store)

        backend, runtime = Specs(), Runtime()
        specs = [("level", b"\x00\xff"), ("mode", b"fast")]
        program = petrel.export(model("affine"), backend=backend,
                                compile_specs={"level": b"\x00\xff", "mode": "fast"})
        self.assertEqual(backend.checked, specs)
        self.assertEqual(backend.of_part, specs)
        petrel.load(program, backends=[runtime])["forward"](X)
        self.assertEqual(runtime.events[0], ("init", "forward", 0, specs))

    def test_compile_specs_that_a_backend_does_not_know_are_refused(self):
        with self.assertRaisesRegex(petrel.Error, "does not know compile spec 'level'"):
            petrel.export(model("affine"), backend=Backend(), compile_specs={"level": b""})


class ViewTest(unittest.TestCase):
    """What a backend sees of a model."""

    def setUp(self):
        views = self.views = []

        class Look(Backend):

            def payload(self, part, store):
                views.append(part)
                return super().payload(part, store)

        petrel.export(model("affine"), backend=Look())
        self.part, = views
        self.graph = self.part.graph

    def test_graph_shows_nodes_in_order_with_arguments(self):
        mul, add = self.graph.nodes
        self.assertEqual((mul.op, add.op), (MUL, ADD))
        self.assertEqual(mul.args["self"], self.graph.inputs[0])
        self.assertEqual(add.args["self"], mul.outputs[0])
        self.assertEqual(add.args["alpha"], 1)
        self.assertEqual(mul.inputs, [mul.args["self"], mul.args["other"]])
        self.assertEqual(self.graph.outputs, [add.outputs[0]])
        self.assertEqual(mul.outputs[0].producer, mul)
        self.assertEqual(mul.outputs[0].users, [add])
        self.assertIn("elementwise", mul.traits)
        self.assertRegex(mul.source, r"make_models.py:\d+, in forward$")

    def test_values_have_types(self):
        value, = self.graph.inputs
        self.assertEqual((value.kind, value.dtype, value.shape), ("tensor", "float32", (4,)))
        self.assertTrue(value.is_input)
        self.assertIsNone(value.producer)
        self.assertIsNone(value.data)
        self.assertIsNone(value.fqn)

    def test_weights_are_read_only_views(self):
        scale = self.graph.nodes[0].args["other"]
        self.assertTrue(scale.is_constant)
        self.assertFalse(scale.is_state)
        self.assertEqual(scale.fqn, "scale")
        numpy.testing.assert_array_equal(scale.data, [1, 2, 3, 4])
        self.assertFalse(scale.data.flags.writeable)
        self.assertFalse(scale.data.flags.owndata)
        with self.assertRaises(ValueError):
            scale.data[0] = 5
        # Not copied: the same bytes every time.
        self.assertEqual(scale.data.ctypes.data, scale.data.ctypes.data)

    def test_views_hold_what_they_show(self):
        node = self.graph.nodes[1]
        data = self.graph.nodes[0].args["other"].data
        self.part = self.graph = None
        self.views.clear()
        gc.collect()
        numpy.testing.assert_array_equal(data, [1, 2, 3, 4])
        self.assertEqual(node.inputs[0].producer.op, MUL)
        self.assertIn("aten.mul.Tensor", str(node.graph))

    def test_values_are_keys(self):
        by_value = {value: value.name for value in [*self.graph.inputs, *self.graph.constants]}
        self.assertEqual(len(by_value), 3)
        self.assertEqual(by_value[self.graph.nodes[0].args["self"]], self.graph.inputs[0].name)
        self.assertNotEqual(self.graph.inputs[0], self.graph.inputs[0].name)


class PartitionerTest(unittest.TestCase):

    def test_reason_stands_in_the_report(self):
        report = petrel.export(model("affine_two_parts"), backend=Backend()).report()
        left, = report["methods"][0]["not_delegated"]
        self.assertEqual(left["op"], "aten.sigmoid.default")
        self.assertEqual(left["reason"], "aten.sigmoid.default is none of 2 operators")

    def test_group_that_is_not_worthwhile_stays(self):

        class Picky(Partitioner):

            def worthwhile(self, nodes):
                self.groups = [[node.op for node in nodes], *getattr(self, "groups", [])]
                return False

        backend = Backend()
        backend.partitioner = Picky((ADD, MUL))
        report = petrel.export(model("affine"), backend=backend).report()
        self.assertEqual(backend.partitioner.groups, [[MUL, ADD]])
        self.assertEqual(report["methods"][0]["delegated"][0]["nodes"], 0)

    def test_operators_that_it_keeps_reach_it_whole(self):

        class Whole(Partitioner):

            def keeps(self, op):
                return op == "aten.glu.default"

        for partitioner, whole in ((Whole(()), True), (Partitioner(()), False)):
            backend = Backend()
            backend.partitioner = partitioner
            petrel.export(model("glu"), backend=backend)
            self.assertEqual("aten.glu.default" in partitioner.asked, whole)
            self.assertEqual("aten.sigmoid.default" in partitioner.asked, not whole)


    def test_nodes_of_two_groups_are_two_partitions(self):

        class Groups(Partitioner):

            def group(self, node):
                return node.op

        backend = Backend()
        petrel.export(model("affine"), backend=backend)
        self.assertEqual(backend.seen, {"forward": [[MUL, ADD]]})
        backend = Backend()
        backend.partitioner = Groups((ADD, MUL))
        petrel.export(model("affine"), backend=backend)
        self.assertEqual(backend.seen, {"forward": [[MUL], [ADD]]})

    def test_what_is_no_cheaper_when_delegated_stays(self):

        class Costs(Partitioner):

            def __init__(self, delegated):
                super().__init__((ADD, MUL))
                self.delegated = delegated

            def costs(self, partition):
                return petrel.GroupCosts(kernels=5.0, delegated=self.delegated, call=1.0,
                                         nodes=f"{len(partition.nodes)} nodes")

        # Where something needs kernels anyway: a sigmoid between two groups.
        for delegated, count in ((1.0, 2), (9.0, 0)):
            backend = Backend()
            backend.partitioner = Costs(delegated)
            program = petrel.export(model("affine_two_parts"), backend=backend)
            self.assertEqual(len(backend.seen.get("forward", [])), count)
            if count == 0:
                self.assertIn("2 nodes", str(program.report()))

    def test_sizes_that_vary_are_offered_only_where_they_are_taken(self):
        path = "test/models/fixtures/torch_2_13/dynamic_batch.pt2"
        fixed = Backend()
        fixed.partitioner = Partitioner(())
        left = petrel.export(path, backend=fixed).report()["methods"][0]["not_delegated"]
        self.assertTrue(any("takes only fixed sizes" in node["reason"] for node in left), left)
        self.assertNotIn(ADD, fixed.partitioner.asked)

        class Any(Partitioner):
            takes_varying_sizes = True

        varying = Backend()
        varying.partitioner = Any(())
        petrel.export(path, backend=varying)
        self.assertIn(ADD, varying.partitioner.asked)


class ErrorTest(unittest.TestCase):
    """Exceptions of callbacks come out of the call, as they were raised."""

    def raises_in_export(self, backend, text):
        try:  # assertRaises would forget the traceback
            petrel.export(model("affine"), backend=backend)
        except Failure as error:
            raised = error
        self.assertEqual(str(raised), "mine")
        check_note(self, text, raised)
        frames = [frame.name for frame in traceback.extract_tb(raised.__traceback__)]
        self.assertEqual(frames[-1], "fail")

    def test_export_raises_what_callbacks_raise(self):

        def fail(*unused):
            raise Failure("mine")

        for function in ("supports", "keeps", "worthwhile"):
            backend = Backend()
            setattr(backend.partitioner, function, fail)
            self.raises_in_export(backend, f"in {function} of a petrel.Partitioner")
            self.assertEqual(backend.calls, 0)
        for function in ("check_compile_specs", "preprocess_all"):
            backend = Backend()
            setattr(backend, function, fail)
            self.raises_in_export(backend, f"in {function} of backend 'Elementwise'")

    def test_results_that_are_none_are_told(self):
        for result, text in (
            (None, "must return a dict"),
            ({"forward": [3]}, "method 'forward', partition 0: a int was returned"),
            ({"forward": []}, "returned 0 of 1 results: none for method 'forward', partition 0"),
            ({}, "returned 0 of 1 results"),
            ({"forward": [b"", b""]}, "returned 2 results for method 'forward', which has 1"),
            ({"forward": [b"x"], "other": []}, "results for method 'other'"),
        ):
            backend = Backend()
            backend.preprocess_all = lambda *unused, result=result: result
            with self.assertRaisesRegex((petrel.Error, TypeError), text):
                petrel.export(model("affine"), backend=backend)

    def test_backend_without_a_method_or_id_is_told(self):

        class Nothing(petrel.Backend):
            id = "Nothing"
            partitioner = Partitioner((ADD,))

        with self.assertRaisesRegex(NotImplementedError, "neither preprocess nor preprocess_all"):
            petrel.export(model("affine"), backend=Nothing())
        with self.assertRaises(AttributeError):
            petrel.export(model("affine"), backend=object())

    def test_store_is_closed_after_preprocess(self):
        backend = Backend()
        petrel.export(model("affine"), backend=backend)
        with self.assertRaisesRegex(petrel.Error, "during preprocess only"):
            backend.store.add_named_blob("k", b"")

    def test_load_and_call_raise_what_the_runtime_half_raises(self):
        program = petrel.export(model("affine"), backend=Backend())

        class Fails(Runtime):

            def __init__(self, where):
                super().__init__()
                self.where = where

            def is_available(self):
                return self.fail("is_available") or True

            def init(self, *args, **kwargs):
                self.fail("init")
                return super().init(*args, **kwargs)

            def execute(self, handle, args):
                self.fail("execute")
                super().execute(handle, args)

            def fail(self, where):
                if where == self.where:
                    raise Failure("mine")

        for where in ("is_available", "init", "execute"):
            runtime = Fails(where)
            forward = petrel.load(program, backends=[runtime])["forward"]
            with self.assertRaises(Failure) as caught:
                forward(X)
            check_note(self, f"in {where} of the runtime backend 'Elementwise'", caught.exception)
            # The failure is over with the call.
            runtime.where = None
            numpy.testing.assert_array_equal(forward(X)[0], affine(X))
            del forward
            gc.collect()
            self.assertEqual(runtime.live, 0)

    def test_backend_that_is_not_available_is_not_supported(self):
        runtime = Runtime()
        runtime.is_available = lambda: False
        program = petrel.export(model("affine"), backend=Backend())
        with self.assertRaises(petrel.Error) as caught:
            petrel.load(program, backends=[runtime])["forward"](X)
        self.assertEqual(caught.exception.code, "NotSupported")

    def test_unknown_and_duplicate_backends_are_told(self):
        program = petrel.export(model("affine"), backend=Backend("Nowhere"))
        with self.assertRaisesRegex(petrel.Error, "Nowhere") as caught:
            petrel.load(program)["forward"](X)
        self.assertEqual(caught.exception.code, "NotFound")
        for two in ([Runtime(), Runtime()], [Runtime("XnnpackBackend")]):
            with self.assertRaisesRegex(petrel.Error, "two runtime backends"):
                petrel.load(program, backends=two)

    def test_call_from_inside_of_a_call_is_refused(self):
        program = petrel.export(model("affine"), backend=Backend())

        class Again(Runtime):

            def execute(self, handle, args):
                forward(X)

        forward = petrel.load(program, backends=[Again()])["forward"]
        with self.assertRaisesRegex(petrel.Error, "from within its own call"):
            forward(X)

    def test_programs_that_call_each_other_do_not_wait_for_ever(self):
        program = petrel.export(model("affine"), backend=Backend())
        both_are_at_work = threading.Barrier(2)
        inner = threading.local()
        forwards = []

        class CallsTheOther(Runtime):

            def execute(self, handle, args):
                super().execute(handle, args)
                if getattr(inner, "other", None) is not None:
                    other, inner.other = inner.other, None
                    both_are_at_work.wait(60)
                    other(X)

        forwards += [petrel.load(program, backends=[CallsTheOther()])["forward"]
                     for _ in range(2)]
        results = []

        def call(own, other):
            inner.other = other
            try:
                results.append(own(X)[0])
            except petrel.Error as raised:
                results.append(raised)

        threads = [threading.Thread(target=call, args=pair, daemon=True)
                   for pair in (forwards, forwards[::-1])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertFalse(any(thread.is_alive() for thread in threads))
        refused, = [result for result in results if isinstance(result, petrel.Error)]
        self.assertRegex(str(refused), "would wait for each other")
        self.assertEqual(refused.code, "InvalidState")
        good, = [result for result in results if not isinstance(result, petrel.Error)]
        numpy.testing.assert_array_equal(good, affine(X))

    def test_exceptions_reach_the_thread_that_called(self):

        class Picky(Runtime):

            def execute(self, handle, args):
                if args[0][0] < 0:
                    raise Failure("a negative number")
                super().execute(handle, args)

        program = petrel.export(model("affine"), backend=Backend())
        forward = petrel.load(program, backends=[Picky()])["forward"]
        wrong = []

        def call(array, expected):
            for _ in range(300):
                try:
                    forward(array)
                    result = None
                except Exception as raised:
                    result = type(raised)
                if result is not expected:
                    wrong.append(result)

        threads = [threading.Thread(target=call, args=arguments)
                   for arguments in ((-abs(X), Failure), (abs(X), None)) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_many_backends_are_given_back(self):
        program = petrel.export(model("affine"), backend=Backend())
        for _ in range(200):  # more than there are slots
            petrel.load(program, backends=[Runtime()])
        held = []
        with self.assertRaisesRegex(petrel.Error, "64 times") as caught:
            while len(held) < 1000:
                held.append(petrel.load(program, backends=[Runtime()]))
        self.assertEqual(caught.exception.code, "OutOfResources")
        self.assertGreater(len(held), 50)
        del held
        gc.collect()
        petrel.load(program, backends=[Runtime()])


class MemoryTest(unittest.TestCase):

    def test_outputs_are_writable(self):
        seen = []

        class Look(Runtime):

            def execute(self, handle, args):
                seen.append([arg.flags.writeable for arg in args])
                super().execute(handle, args)

        program = petrel.export(model("affine"), backend=Backend())
        petrel.load(program, backends=[Look()])["forward"](X)
        self.assertTrue(seen[0][-1])
        self.assertEqual(len(seen[0]), 2)

    def test_arguments_may_be_kept(self):
        kept = []

        class Keep(Runtime):

            def execute(self, handle, args):
                super().execute(handle, args)
                kept.extend(args)

        program = petrel.export(model("affine"), backend=Backend())
        loaded = petrel.load(program, backends=[Keep()])
        loaded["forward"](X.copy())
        del loaded
        gc.collect()
        numpy.testing.assert_array_equal(kept[-1], affine(X))

    def test_backends_and_handles_are_freed(self):
        backend, runtime = Backend(), Runtime()
        backend_gone, runtime_gone = weakref.ref(backend), weakref.ref(runtime)
        program = petrel.export(model("affine"), backend=backend)
        loaded = petrel.load(program, backends=[runtime])
        loaded["forward"](X)
        del backend, runtime, loaded
        gc.collect()
        self.assertIsNone(backend_gone())
        self.assertIsNone(runtime_gone())


if __name__ == "__main__":
    unittest.main()
