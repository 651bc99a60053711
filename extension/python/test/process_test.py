# SPDX-License-Identifier: Apache-2.0
"""Threads, fork, sub-interpreters and the end of the interpreter."""

import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest

import numpy
import petrel
from elementwise import Backend, Runtime, affine, model

DIGITS = pathlib.Path("examples/quickstart/digits.pt2")
X = numpy.array([1, -2, 3, 0.5], numpy.float32)


def python(code, *arguments):
    """A new interpreter with the same paths; the finished process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                          check=False)


class IsaLevelTest(unittest.TestCase):

    def test_level_is_set_before_anything_computes(self):
        code = """
import platform, sys, numpy, petrel
lowest = "neon" if platform.machine() == "aarch64" else "sse2"
try:
    petrel.set_isa_level("avx9")
except petrel.Error as error:
    assert "'avx9' is unknown" in str(error) and lowest in str(error), error
else:
    raise AssertionError("an unknown level was taken")
petrel.set_isa_level("native")
petrel.set_isa_level(lowest)
forward = petrel.load(petrel.export(sys.argv[1]))["forward"]
print(forward(numpy.ones((1, 1, 8, 8), numpy.float32))[0].argmax())
try:
    petrel.set_isa_level("native")
except petrel.Error as error:
    assert f"is '{lowest}' and in use" in str(error), error
else:
    raise AssertionError("the level changed after its use")
"""
        result = python(code, DIGITS)
        self.assertEqual(result.returncode, 0, result.stderr)


class ThreadTest(unittest.TestCase):

    def run_threads(self, work, count=4):
        failures = []

        def guarded(number):
            try:
                work(number)
            except BaseException as error:  # told by the test
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(failures, [])
        self.assertFalse(any(thread.is_alive() for thread in threads))

    def test_threads_run_different_methods_of_one_program(self):
        names = ["affine", "affine_two_parts", "affine_three_parts"]
        program = petrel.export(methods={name: model(name) for name in names},
                                backend=Backend())
        loaded = petrel.load(program, backends=[Runtime()])

        def work(number):
            method = loaded[names[number % 3]]
            for i in range(50):
                x = X + i + number
                numpy.testing.assert_allclose(method(x)[0], affine(x, parts=number % 3 + 1),
                                              rtol=1e-6)

        self.run_threads(work)

    def test_threads_run_different_programs(self):
        program = petrel.export(DIGITS)
        image = numpy.ones((1, 1, 8, 8), numpy.float32)
        expected = petrel.load(program)["forward"](image)[0]

        def work(number):
            forward = petrel.load(program)["forward"]
            for _ in range(50):
                numpy.testing.assert_array_equal(forward(image)[0], expected)

        self.run_threads(work)

    def test_threads_export_at_the_same_time(self):
        expected = petrel.export(DIGITS)

        def work(number):
            program = petrel.export(DIGITS)
            self.assertEqual(pathlib.Path(program.path).read_bytes(),
                             pathlib.Path(expected.path).read_bytes())

        self.run_threads(work, 3)

    def test_other_threads_go_on_while_a_program_runs(self):
        # A backend that waits for what another thread does while execute runs,
        # called through a program that does not hold Python's lock.
        started, go_on = threading.Event(), threading.Event()

        class Waits(Runtime):

            def execute(self, handle, args):
                started.set()
                if not go_on.wait(30):
                    raise TimeoutError
                super().execute(handle, args)

        forward = petrel.load(petrel.export(model("affine"), backend=Backend()),
                              backends=[Waits()])["forward"]
        outputs = []
        thread = threading.Thread(target=lambda: outputs.append(forward(X)[0]))
        thread.start()
        self.assertTrue(started.wait(30))
        go_on.set()
        thread.join(30)
        numpy.testing.assert_array_equal(outputs[0], affine(X))

    def test_a_load_that_fails_waits_for_threads_that_still_read(self):
        # What they read is gone when it has failed.
        happened, answers = [], []
        begun, go_on = threading.Event(), threading.Event()

        class Slow(petrel.NamedDataMap):

            def __init__(self, keys):
                self.data = {key: bytes.fromhex(key.split(".")[1]) for key in keys}

            def get_data(self, key):
                begun.set()
                go_on.wait(30)
                happened.append("read")
                return self.data[key]

            def keys(self):
                return self.data.keys()

        class Fails(Runtime):

            def init(self, payload, named_data, *, compile_specs, method):
                self.named_data, key = named_data, named_data.keys()[0]
                self.reader = threading.Thread(
                    target=lambda: answers.append(named_data.get_data(key)))
                self.reader.start()
                begun.wait(30)
                raise ArithmeticError("of the test")

        class Keys(Backend):

            def preprocess_all(self, programs, store):
                results = super().preprocess_all(programs, store)
                self.keys = store.keys()
                return results

        backend, runtime = Keys(), Fails()
        program = petrel.export(model("affine"), backend=backend)
        slow = Slow(backend.keys)
        loaded = petrel.load(program, data=[slow], backends=[runtime])
        threading.Timer(0.2, go_on.set).start()
        with self.assertRaisesRegex(ArithmeticError, "of the test"):
            loaded["forward"].load()
        happened.append("failed")
        runtime.reader.join(30)
        self.assertEqual(happened, ["read", "failed"])
        self.assertIn(answers, [[data] for data in slow.data.values()])
        with self.assertRaisesRegex(petrel.Error, "named data is there during init only"):
            runtime.named_data.keys()


FORK = """
import os, signal, sys, numpy, petrel
program = petrel.export(sys.argv[1])
image = numpy.ones((1, 1, 8, 8), numpy.float32)
before = petrel.load(program, num_threads=2)
expected = before["forward"](image)[0]
child = os.fork()
if child == 0:
    signal.alarm(60)
    try:
        before["forward"](image)
    except petrel.Error as error:
        assert "before fork()" in str(error) and error.code == "InvalidState", error
    else:
        os._exit(2)
    got = petrel.load(program)["forward"](image)[0]
    same = numpy.array_equal(got, expected)
    del before
    os._exit(0 if same else 3)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert numpy.array_equal(before["forward"](image)[0], expected)
print("ok")
"""

SUB_INTERPRETER = """
import sys, petrel
try:
    import _interpreters as interpreters  # since 3.13: without a lock of their own
    other = interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    other = interpreters.create()
code = "import sys; sys.path[:0] = %r; import petrel" % sys.path
try:
    failed = interpreters.run_string(other, code)  # 3.13 returns what others raise
except RuntimeError as error:
    failed = error
assert "main interpreter only" in str(failed), failed
print("refused")
interpreters.destroy(other)
assert petrel.Error("x").code == "Internal"
"""

EXIT = """
import sys, threading, time, numpy, petrel
program = petrel.export(sys.argv[1])
image = numpy.ones((1, 1, 8, 8), numpy.float32)
forward = petrel.load(program)["forward"]
forward(image)
kept = forward(image, copy_outputs=False)

def forever():
    while True:
        forward(image)

for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(float(sys.argv[2]))
print("end")
"""

EXIT_IN_CALLBACK = """
import sys, threading, time, numpy, petrel
sys.path.insert(0, sys.argv[1])
from elementwise import Backend, Runtime, model
forward = petrel.load(petrel.export(model("affine"), backend=Backend()),
                      backends=[Runtime()])["forward"]
x = numpy.ones(4, numpy.float32)

def forever():
    while True:
        forward(x)

for _ in range(2):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(float(sys.argv[2]))
print("end")
"""


class ProcessTest(unittest.TestCase):

    def test_child_of_fork_loads_anew(self):
        done = python(FORK, DIGITS)
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)

    def test_sub_interpreters_are_refused(self):
        done = python(SUB_INTERPRETER)
        self.assertEqual((done.returncode, done.stdout), (0, "refused\n"), done.stderr)

    def test_interpreter_ends_while_threads_run_programs(self):
        for delay in (0.0, 0.01, 0.03):
            done = python(EXIT, DIGITS, delay)
            self.assertEqual((done.returncode, done.stdout), (0, "end\n"), done.stderr)

    def test_interpreter_ends_while_threads_run_callbacks(self):
        here = os.path.dirname(os.path.abspath("extension/python/test/elementwise.py"))
        for delay in (0.0, 0.01, 0.03):
            done = python(EXIT_IN_CALLBACK, here, delay)
            self.assertEqual((done.returncode, done.stdout), (0, "end\n"), done.stderr)

    def test_import_takes_no_torch_and_no_numpy(self):
        done = python("import sys, petrel; print('torch' in sys.modules, 'numpy' in sys.modules)")
        self.assertEqual((done.returncode, done.stdout), (0, "False False\n"), done.stderr)

    def test_objects_are_made_by_functions_alone(self):
        code = """
from petrel import _petrel
types = [value for value in vars(_petrel).values()
         if isinstance(value, type) and type(value).__name__ == "pybind11_type"]
for made in types:
    for make in (made, lambda: made.__new__(made), lambda: object.__new__(made),
                 type("Derived", (made,), {})):
        try:
            made_object = make()
        except TypeError:
            continue
        raise AssertionError(f"{made} was made")
print(len(types) > 8)
"""
        done = python(code)
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)

    def test_calls_many_times_without_growing(self):
        forward = petrel.load(petrel.export(DIGITS))["forward"]
        image = numpy.ones((1, 1, 8, 8), numpy.float32)

        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        for _ in range(500):
            forward(image)
        before, start = resident(), time.monotonic()
        for _ in range(5000):
            forward(image)
            if time.monotonic() - start > 30:
                break
        self.assertLess(resident() - before, 1 << 20)


if __name__ == "__main__":
    unittest.main()
