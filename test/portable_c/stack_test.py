# SPDX-License-Identifier: Apache-2.0
"""How much stack a run needs: the worst way through the calls as the compiler tells it, which ends
because nothing calls itself, printed, and verified by painting the stack of a run."""

import os
import pathlib
import re
import tempfile
import unittest

import npy_file
import package
from command import done

LAYERS = pathlib.Path("test/models/layers").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()

NODE = re.compile(r'^node: \{ title: "([^"]*)" label: "([^"]*)"', re.MULTILINE)
EDGE = re.compile(r'^edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', re.MULTILINE)

# What a run leaves of the paint on a stack of its own, beside what a call of nothing leaves.
APP = """#define _XOPEN_SOURCE 700
#include "kws.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
static unsigned char painted[1 << 20];
static ucontext_t app, other;
static struct kws_context context;
static struct kws_inputs inputs;
static struct kws_outputs outputs;
static int32_t status = KWS_OK;
static void nothing(void) {}
static void run(void) { status = kws_run(&context, &inputs, &outputs); }
static size_t used_by(void (*work)(void)) {
  size_t left = 0;
  memset(painted, 0xa5, sizeof painted);
  getcontext(&other);
  other.uc_stack.ss_sp = painted;
  other.uc_stack.ss_size = sizeof painted;
  other.uc_link = &app;
  makecontext(&other, work, 0);
  swapcontext(&app, &other);
  while (left < sizeof painted && painted[left] == 0xa5) ++left;
  return sizeof painted - left;
}
int main(void) {
  struct kws_pools pools;
  size_t bare;
%s
  if (kws_init(&context, &pools) != KWS_OK) return 1;
  bare = used_by(nothing);
  printf("%%zu\\n", used_by(run) - bare);
  return status == KWS_OK ? 0 : 2;
}
"""


def worst_stack(text, root):
    """Bytes from `root` down to the last call. Fails where a function calls itself, or takes stack
    that the compiler does not know."""
    own, calls = {}, {}
    for title, label in NODE.findall(text):
        size = re.search(r"(\d+) bytes \(([^)]*)\)", label)
        own[title] = int(size[1]) if size else 0  # of the C library
        assert not size or size[2] == "static", label
    for source, target in EDGE.findall(text):
        calls.setdefault(source, set()).add(target)
    known = {}

    def bytes_of(name, way):
        assert name not in way, f"{name} calls itself"
        if name not in known:
            # The address to return to is part of what the caller takes.
            known[name] = own.get(name, 0) + max(
                (8 + bytes_of(called, way + (name,)) for called in calls.get(name, ())), default=0)
        return known[name]
    return bytes_of(root, ())


class StackTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def check(self, model, inputs):
        folder = self.folder / model.stem
        folder.mkdir()
        built = package.Package(folder, "kws", [("forward", model)])
        lines = ["  pools.%s = %saligned_alloc(%d, %d);\n  pools.%s_bytes = %d;" % (
            member, f"({cast})" if cast else "", align, max(-(-size // align) * align, align),
            member, size) for member, cast, size, align in built.memories()]
        method = built.manifest["methods"][0]
        for i, tensor in enumerate(method["inputs"]):
            (folder / f"in{i}").write_bytes(npy_file.read(inputs[i]).data)
            lines.append(f'  {{ void *data = malloc({tensor["bytes"]} + 1u); FILE *file = '
                         f'fopen("in{i}", "rb");\n    if (fread(data, 1, {tensor["bytes"]}, file) '
                         f'!= {tensor["bytes"]}) return 3;\n    fclose(file); '
                         f'inputs.{tensor["c_name"]} = data; }}')
        for tensor in method["outputs"]:
            lines.append(f'  outputs.{tensor["c_name"]} = malloc({tensor["bytes"]} + 1u);')
        (folder / "painted.c").write_text(APP % "\n".join(lines))
        done(["gcc", "-std=c99", *package.EXACT, "-fcallgraph-info=su", "-Ic", "-c", "c/kws.c"],
             folder)
        # Names that the loader looks up when they are first called would take stack then.
        done(["gcc", "-std=c11", "-Wl,-z,now", "-Ic", "painted.c", "kws.o", "kws_params.o", "-lm",
              "-o", "painted"], folder)
        worst = worst_stack((folder / "kws.ci").read_text(), "kws_run")
        measured = int(done(["./painted"], folder))
        print(f"{model.stem}: {worst} bytes of stack at most, {measured} measured")
        # Leaves of the C library have some, and what a branch may take a run need not.
        self.assertLessEqual(measured, worst + 512)
        self.assertGreaterEqual(measured, worst // 2)

    def test_worst_stack_is_what_a_run_takes(self):
        self.check(DIGITS, [DIGITS.with_name("digit.npy")])
        for name in ("lstm", "attention", "conv_transposed", "norms", "pools"):
            self.check(LAYERS / f"{name}.pt2", sorted(LAYERS.glob(f"{name}.input_*.npy")))

    def test_notices_calls_in_a_circle_and_stack_of_unknown_size(self):
        node = 'node: { title: "%s" label: "%s\\nx.c:1:1\\n%d bytes (%s)" }\n'
        edge = 'edge: { sourcename: "%s" targetname: "%s" label: "x.c:2:2" }\n'
        text = node % ("a", "a", 16, "static") + node % ("b", "b", 32, "static") + edge % ("a", "b")
        self.assertEqual(worst_stack(text, "a"), 56)
        with self.assertRaisesRegex(AssertionError, "calls itself"):
            worst_stack(text + edge % ("b", "a"), "a")
        with self.assertRaises(AssertionError):
            worst_stack(text + node % ("c", "c", 8, "dynamic"), "a")


if __name__ == "__main__":
    unittest.main()
