# SPDX-License-Identifier: Apache-2.0
"""What firmware people expect of generated C: other compilers, sanitizers, no allocator, no
data that is not const, status codes, contexts of their own; and what is refused."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import arrays
import npy_file
import package
from command import PETREL, done

LAYERS = pathlib.Path("test/models/layers").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()

# All that generated C may ask of its surroundings.
KNOWN = {"memcpy", "memmove", "memset", "sqrt", "floor", "ceil", "trunc", "ldexp", "frexp", "fmod",
         "_GLOBAL_OFFSET_TABLE_"}

ERRORS = """#include "kws.h"
static unsigned char memory[KWS_ARENA_BYTES + 2 * KWS_ARENA_ALIGN];
static const float image[KWS_INPUT_IMAGE_ELEMENTS] = {0};
int main(void) {
  float scores[KWS_OUTPUT_LINEAR_ELEMENTS];
  struct kws_context context = {0};
  struct kws_pools pools;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  const void *data;
  size_t bytes;
  unsigned char *arena = memory;
  inputs.image = image;
  outputs.linear = scores;
  if (kws_run(&context, &inputs, &outputs) != KWS_E_NULL) return 1;
  while ((uintptr_t)arena % KWS_ARENA_ALIGN != 0) ++arena;
  pools.arena = arena + 1;
  pools.arena_bytes = KWS_ARENA_BYTES;
  if (kws_init(&context, &pools) != KWS_E_ALIGN) return 2;
  pools.arena = arena;
  pools.arena_bytes = KWS_ARENA_BYTES - 1u;
  if (kws_init(&context, &pools) != KWS_E_SIZE) return 3;
  pools.arena = NULL;
  if (kws_init(&context, &pools) != KWS_E_NULL) return 4;
  pools.arena = arena;
  pools.arena_bytes = KWS_ARENA_BYTES;
  if (kws_init(NULL, &pools) != KWS_E_NULL || kws_init(&context, NULL) != KWS_E_NULL) return 5;
  if (kws_init(&context, &pools) != KWS_OK) return 6;
  if (kws_run(&context, NULL, &outputs) != KWS_E_NULL) return 7;
  outputs.linear = NULL;
  if (kws_run(&context, &inputs, &outputs) != KWS_E_NULL) return 8;
  outputs.linear = scores;
  if (kws_run(&context, &inputs, &outputs) != KWS_OK) return 9;
  if (kws_lookup_linked_param(1u, &data, &bytes) != KWS_E_NOT_FOUND) return 10;
  if (kws_lookup_linked_param(1u, NULL, &bytes) != KWS_E_NULL) return 11;
  return 0;
}
"""

LOOKUP = """#include "kws.h"
#include <stdio.h>
int main(void) {{
  const void *data;
  size_t bytes;
  FILE *file = fopen("params", "wb");
{lookups}
  return fclose(file);
}}
"""


MAPPED = """#include "kws.h"
int main(void) {
  const struct kws_pools pools = kws_static_pools();
  struct kws_context context;
  struct kws_inputs inputs;
  struct kws_outputs outputs;
  if (kws_get_model_metadata() == NULL || kws_init(&context, &pools) != KWS_OK) return 1;
  inputs = kws_map_inputs(&context);
  outputs = kws_map_outputs(&context);
  return kws_run(&context, &inputs, &outputs) == KWS_OK ? 0 : 2;
}
"""

METADATA = """#include "counter.h"
#include "petrel_model.h"
#include <stdio.h>
static void print_tensors(const struct petrel_tensor_info *tensors, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    printf("%s %s %d %u", tensors[i].name, tensors[i].c_name, (int)tensors[i].dtype,
           (unsigned)tensors[i].bytes);
    for (uint32_t d = 0; d < tensors[i].rank; ++d) {
      printf(" %d:%d", (int)tensors[i].sizes[d], tensors[i].dim_order[d]);
    }
    printf("\\n");
  }
}
int main(void) {
  const struct petrel_model_metadata *model = counter_get_model_metadata();
  if (model->magic != PETREL_MODEL_MAGIC || model->abi_version != COUNTER_ABI_VERSION) return 1;
  printf("%s %s %u\\n", model->name, model->sha256, (unsigned)model->constant_bytes);
  for (uint32_t i = 0; i < model->num_pools; ++i) {
    const struct petrel_pool_info *pool = &model->pools[i];
    printf("%s %u %u %u\\n", pool->name, (unsigned)pool->bytes, (unsigned)pool->align,
           (unsigned)pool->is_kept);
  }
  for (uint32_t i = 0; i < model->num_methods; ++i) {
    const struct petrel_method_info *method = &model->methods[i];
    printf("%s %u %u\\n", method->name, (unsigned)method->arena_bytes,
           (unsigned)method->io_bytes);
    print_tensors(method->inputs, method->num_inputs);
    print_tensors(method->outputs, method->num_outputs);
  }
  return 0;
}
"""
DTYPES = {"f32": 6, "i64": 4}
SEARCH = ["--planner", "search"]


class ChecksTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def digits(self, **more):
        return package.Package(self.folder, "kws", [("forward", DIGITS)], **more)

    def refused(self, *words):
        result = subprocess.run([PETREL, "gen-c", *map(str, words)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertNotEqual(result.returncode, 0)
        return result.stderr

    def test_cplusplus_takes_it_and_no_level_of_optimisation_changes_a_bit(self):
        digits = self.digits()
        image = npy_file.read(DIGIT).data
        scores = digits.run("forward", [image])
        for name in ("kws.c", "kws_params.c", "kws_metadata.c", "kws_selftest.c"):
            done(["g++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Wconversion",
                  "-Wsign-conversion", "-Wshadow", "-pedantic", "-Werror", "-c",
                  self.folder / "c" / name, "-o", "x.o"], self.folder)
        for more in (["-O0"], ["-O3"], ["-Os", "-m32"] if self.has_32_bits() else ["-Os"]):
            digits.compile("gcc", more)
            self.assertEqual(digits.run("forward", [image]), scores, more)

    def has_32_bits(self):
        (self.folder / "t.c").write_text("#include <stdio.h>\nint main(void) { return 0; }\n")
        return subprocess.run(["gcc", "-m32", "t.c", "-o", "t"], cwd=self.folder,
                              stderr=subprocess.DEVNULL).returncode == 0

    def test_sanitizers_find_nothing(self):
        layers = ("lstm", "pools", "choices", "norms", "conv_transposed", "embedding", "writes",
                  "resize")
        for layer in layers:
            folder = self.folder / layer
            folder.mkdir()
            inputs = sorted(LAYERS.glob(f"{layer}.input_*.npy"))
            built = package.Package(folder, "layer", [("forward", LAYERS / f"{layer}.pt2")],
                                    more=package.SANITIZED)
            expected = arrays.interpreted(folder, LAYERS / f"{layer}.pt2", inputs)
            actual = built.run("forward", [npy_file.read(f).data for f in inputs])
            for a, e in zip(actual, expected, strict=True):
                self.assertTrue(arrays.same(a, e), layer)

    def test_nothing_is_asked_of_the_surroundings(self):
        for layer in ("activations", "lstm", "choices", "writes"):
            folder = self.folder / layer
            folder.mkdir()
            built = package.Package(folder, "kws", [("forward", LAYERS / f"{layer}.pt2")])
            built.compiled("kws_metadata.c")
            listed = done(["nm", "-u", "kws.o", "kws_params.o", "kws_metadata.o"], folder)
            self.assertLessEqual(set(re.findall(r"U (\w+)", listed)) - KNOWN,
                                 set(re.findall(r"kws_\w+", listed)))

    def test_map_file_has_weights_in_rodata_and_nothing_but_pools_in_ram(self):
        """Of a program that is not moved, as firmware is."""
        manifest = package.generate(self.folder, "kws", [("forward", DIGITS)], [
            "--pool", "name=sram,limit=12K,align=64", "--pool", "dram=unlimited"])
        (self.folder / "app.c").write_text(MAPPED)
        objects = ["kws.o", "kws_params.o", "kws_metadata.o", "kws_memory.o"]
        for name in objects:
            done(["gcc", "-std=c99", "-fno-pie", "-Ic", "-c", f"c/{name[:-2]}.c"], self.folder)
        done(["gcc", "-std=c99", "-fno-pie", "-no-pie", "-Ic", "app.c", *objects, "-lm",
              "-Wl,-Map=app.map", "-o", "app"], self.folder)
        done(["./app"], self.folder)
        sections = [(section, int(at, 16), int(size, 16), name)
                    for section, at, size, name in re.findall(
                        r"^ (\.\S+)\s+0x(\w+)\s+0x(\w+) (kws\w*\.o)$",
                        (self.folder / "app.map").read_text(), re.MULTILINE)]
        bytes_of = lambda start: sum(size for section, _, size, _ in sections
                                     if section.startswith(start))
        self.assertEqual({name for *_, name in sections}, set(objects))
        self.assertEqual(bytes_of(".data"), 0)
        self.assertEqual(bytes_of(".bss"), sum(p["bytes"] for p in manifest["pools"]))
        symbols = {symbol: int(at, 16) for at, symbol in re.findall(
            r"^(\w+) R (kws_param_\w+)$", done(["nm", "app"], self.folder), re.MULTILINE)}
        for row in manifest["parameters"]:
            at = symbols.pop(row["symbol"])
            self.assertTrue(any(section.startswith(".rodata") and name == "kws_params.o" and
                                begin <= at and at + row["bytes"] <= begin + size
                                for section, begin, size, name in sections), row["name"])
        self.assertEqual(symbols, {})

    def test_all_data_is_const_and_nothing_is_global_but_what_has_the_prefix(self):
        self.digits().compiled("kws_metadata.c")
        for name in ("kws.o", "kws_params.o", "kws_metadata.o"):
            sizes = done(["size", "-A", name], self.folder)
            for section in (".data", ".bss"):
                self.assertRegex(sizes, rf"\n\{section} +0 ")
        symbols = done(["nm", "--defined-only", "kws.o", "kws_params.o", "kws_metadata.o"],
                       self.folder)
        for kind, symbol in re.findall(r"([A-Za-z]) (\w+)$", symbols, re.MULTILINE):
            self.assertTrue(symbol.startswith("kws_") or kind.islower(), symbol)

    def test_parameters_are_symbols_that_nm_sorts_by_size_and_lookup_finds(self):
        rows = self.digits(more=package.UNOPTIMISED).manifest["parameters"]
        listed = done(["nm", "--size-sort", "-S", "kws_params.o"], self.folder)
        sizes = {n: int(s, 16) for s, n in re.findall(r"\w+ (\w+) R (\w+)", listed)}
        self.assertEqual({r["symbol"]: r["bytes"] for r in rows}, sizes)
        # Made of names, so they are no row of numbers.
        ids = {r["id"] for r in rows}
        self.assertEqual(len(ids), len(rows))
        self.assertGreater(max(ids) - min(ids), 1000 * len(ids))
        lookups = "".join(
            f'  if (kws_lookup_linked_param({r["id"]}u, &data, &bytes) != KWS_OK) return 1;\n'
            f'  fwrite(data, 1, bytes, file);\n' for r in rows)
        (self.folder / "app.c").write_text(LOOKUP.format(lookups=lookups))
        done(["gcc", "-Ic", "app.c", "kws_params.o", "-o", "lookup"], self.folder)
        done(["./lookup"], self.folder)
        data = (self.folder / "params").read_bytes()
        self.assertEqual(len(data), sum(r["bytes"] for r in rows))
        for row in rows:
            part, data = data[:row["bytes"]], data[row["bytes"]:]
            self.assertEqual(hashlib.sha256(part).hexdigest(), row["sha256"], row["name"])

    def test_what_a_caller_does_wrong_is_a_status(self):
        self.digits(more=package.UNOPTIMISED)
        (self.folder / "errors.c").write_text(ERRORS)
        done(["gcc", "-std=c99", "-Ic", "errors.c", "kws.o", "kws_params.o", "-lm", "-o", "errors"],
             self.folder)
        done(["./errors"], self.folder)

    def test_lookup_is_there_without_parameters(self):
        built = package.Package(self.folder, "none", [("forward", LAYERS / "pixels.pt2")])
        self.assertEqual(built.manifest["parameters"], [])
        self.assertIn("none_lookup_linked_param", done(["nm", "none_params.o"], self.folder))

    def test_metadata_struct_says_what_the_manifest_says(self):
        state = pathlib.Path("test/models/state").absolute()
        built = package.Package(self.folder, "counter", [
            (m, state / f"counter.{m}.pt2") for m in ("add", "read")], more=package.UNOPTIMISED)
        built.compiled("counter_metadata.c")
        (self.folder / "tell.c").write_text(METADATA)
        done(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Ic", "tell.c",
              "counter_metadata.o", "counter.o", "counter_params.o", "-o", "tell"], self.folder)
        m = built.manifest
        self.assertEqual(m["constant_bytes"], sum(p["bytes"] for p in m["parameters"]))
        lines = [f"counter {m['sha256']} {m['constant_bytes']}"]
        for pool in m["memories"]:
            lines.append(f"{pool['name']} {pool['bytes']} {pool['align']} {int(pool['is_kept'])}")
        self.assertEqual([p["is_kept"] for p in m["memories"]], [False, True])
        for method in m["methods"]:
            bytes_ = sum(t["bytes"] for t in method["inputs"] + method["outputs"])
            self.assertEqual(method["io_bytes"], bytes_)
            lines.append(f"{method['name']} {method['arena_bytes']} {bytes_}")
            for t in method["inputs"] + method["outputs"]:
                dims = "".join(f" {s}:{d}" for s, d in zip(t["shape"], t["dim_order"]))
                lines.append(f"{t['name']} {t['c_name']} {DTYPES[t['dtype']]} {t['bytes']}{dims}")
        self.assertEqual(done(["./tell"], self.folder).splitlines(), lines)

    def test_package_names_that_c_cannot_have_are_refused(self):
        for name in ("int", "class", "2d", "a__b", "kws-1", "x" * 40, "_kws"):
            self.assertIn("the package name is", self.refused(DIGITS, "-o", "c", "--name", name))
        self.assertFalse((self.folder / "c").exists())

    def test_what_cannot_be_c_is_named_all_at_once_and_nothing_is_written(self):
        varying = pathlib.Path("test/models/varying").absolute()
        message = self.refused(varying / "number_refusals.pt2", "-o", "c")
        self.assertIn("argument 'alpha' is computed from sizes, which does not exist in C yet",
                      message)
        self.assertGreater(message.count("\n"), 1)
        self.assertRegex(message, r"node '\w+' \(\S+\) at \S+:\d+")
        self.assertFalse((self.folder / "c").exists())

    def test_arena_beyond_a_limit_is_refused_with_what_fills_it(self):
        needed = package.generate(self.folder, "kws", [("forward", DIGITS)],
                                  SEARCH)["arena_bytes"]
        message = self.refused(DIGITS, "-o", "small", "--max-arena-bytes", needed - 100)
        self.assertIn(f"which is {needed - 100}, by 100; no plan has fewer than", message)
        self.assertRegex(message, r"are alive: \S+ \d+, \S+ \d+")
        self.assertFalse((self.folder / "small").exists())

    def test_manifest_is_what_the_header_says(self):
        manifest = package.generate(self.folder, "kws", [("forward", DIGITS)], SEARCH)
        header = (self.folder / "c/kws.h").read_text()
        self.assertIn(f"#define KWS_ARENA_BYTES {manifest['arena_bytes']}u\n", header)
        for role in ("input", "output"):
            for tensor in manifest["methods"][0][role + "s"]:
                name = f"KWS_{role.upper()}_{tensor['c_name'].upper()}"
                self.assertIn(f"#define {name}_BYTES {tensor['bytes']}u\n", header)
        self.assertEqual(manifest["methods"][0]["lower_bound_bytes"], manifest["arena_bytes"])


if __name__ == "__main__":
    unittest.main()
