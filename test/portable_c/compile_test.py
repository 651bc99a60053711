# SPDX-License-Identifier: Apache-2.0
"""`gen-c --compile`: objects and shared libraries that the C compiler makes of a package, used
by an app that knows no model, only petrel_model.h."""

import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

import arrays
import npy_file
from command import ONE_LEVEL, PETREL, QUICK_PLAN, done

DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
PORTABLE = pathlib.Path("test/models/portable").absolute()
CELL = PORTABLE / "cell.pt2"
STATE = pathlib.Path("test/models/state").absolute()
VARYING = pathlib.Path("test/models/varying").absolute()

# Runs the methods that it is given on files N.inI, in place or not, and writes N.outI.
ANY_MODEL = """#include "petrel_model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct petrel_model_metadata *MODEL(void);

static FILE *open_file(int call, const char *role, uint32_t i, const char *mode) {
  char path[64];
  sprintf(path, "%d.%s%u", call, role, (unsigned)i);
  return fopen(path, mode);
}

static int run(int call, const struct petrel_method_info *method, void *context, int in_place) {
  const void *inputs[8];
  void *outputs[8];
  if (method->num_inputs > 8 || method->num_outputs > 8) return 50;
  for (uint32_t i = 0; i < method->num_inputs; ++i) {
    const size_t bytes = method->inputs[i].bytes;
    void *data = in_place ? method->inputs[i].place(context) : malloc(bytes + 1);
    FILE *file = open_file(call, "in", i, "rb");
    if (file == NULL || fread(data, 1, bytes, file) != bytes) return 51;
    fclose(file);
    inputs[i] = data;
  }
  for (uint32_t i = 0; i < method->num_outputs; ++i) {
    const struct petrel_tensor_info *output = &method->outputs[i];
    outputs[i] = in_place ? output->place(context) : malloc(output->bytes + 1);
  }
  const int32_t status = method->run(context, inputs, outputs);
  for (uint32_t i = 0; i < method->num_outputs; ++i) {
    FILE *file = open_file(call, "out", i, "wb");
    fwrite(outputs[i], 1, method->outputs[i].bytes, file);
    fclose(file);
  }
  return status;
}

int main(int argc, char **argv) {
  const struct petrel_model_metadata *model = MODEL();
  void *context = malloc(model->context_bytes), *pools[8];
  size_t bytes[8];
  if (model->abi_version != PETREL_MODEL_ABI_VERSION || model->num_pools > 8) return 40;
  for (uint32_t i = 0; i < model->num_pools; ++i) {
    const size_t align = model->pools[i].align;
    bytes[i] = (model->pools[i].bytes + align) / align * align;
    pools[i] = aligned_alloc(align, bytes[i]);
    memset(pools[i], 0xa5, bytes[i]);
  }
  if (model->init(context, pools, bytes) != PETREL_MODEL_OK) return 41;
  if (model->init(context, NULL, bytes) != PETREL_MODEL_E_NULL) return 42;
  bytes[0] = model->pools[0].bytes - 1;
  if (model->init(context, pools, bytes) != PETREL_MODEL_E_SIZE) return 43;
  for (int i = 2; i < argc; ++i) {
    const struct petrel_method_info *method = petrel_find_method(model, argv[i]);
    int status = strcmp(argv[i], "reset") == 0 ? model->reset_state(context) : 44;
    if (method != NULL) status = run(i - 1, method, context, strcmp(argv[1], "in-place") == 0);
    if (status != 0) return 128 + status;
  }
  return 0;
}
"""

NAMES = """#include "petrel_model.h"
#include <stdio.h>
extern const struct petrel_model_metadata *MODEL(void);
int main(int argc, char **argv) {
  const struct petrel_method_info *method = petrel_find_method(MODEL(), "forward");
  if (petrel_find_method(MODEL(), "backward") != NULL || method == NULL) return 1;
  for (int i = 1; i < argc; ++i) {
    printf("%d %d\\n", (int)petrel_find_input(method, argv[i]),
           (int)petrel_find_output(method, argv[i]));
  }
  return 0;
}
"""

# What a package of the direct interface alone says of itself.
NULL = """#include "petrel_model.h"
#include <stdio.h>
extern const struct petrel_model_metadata *MODEL(void);
int main(void) {
  const struct petrel_model_metadata *model = MODEL();
  const struct petrel_method_info *method = petrel_find_method(model, "forward");
  if (model->init != NULL || model->reset_state != NULL || model->open != NULL) return 1;
  if (method->run != NULL || method->run_step != NULL || method->set_sizes != NULL) return 2;
  printf("%s %d %d\\n", method->name, (int)method->num_inputs, (int)method->num_outputs);
  return 0;
}
"""

VIEW = """#include "petrel_model_view.h"
#include <cstdio>
extern "C" const petrel_model_metadata *MODEL(void);
int main() {
  const petrel_model::Model model(MODEL());
  for (const petrel_model::Pool pool : model.pools()) {
    std::printf("%s %zu\\n", pool.name().data(), pool.bytes());
  }
  for (const petrel_model::Method method : model.methods()) {
    std::printf("%s %zu %zu\\n", method.name().data(), method.inputs().size(),
                method.outputs().size());
  }
  const auto forward = model.method("forward");
  if (!forward || model.method("backward") || forward->input("linear")) return 1;
  const petrel_model::Tensor image = *forward->input("image");
  for (const int32_t size : image.sizes()) std::printf("%d ", size);
  static_assert(petrel_model::dtype_of<float>() == PETREL_DTYPE_FLOAT, "");
  return image.dtype() == petrel_model::dtype_of<float>() && image.bytes() == 256 ? 0 : 2;
}
"""


class CompileTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def generate(self, name, methods, compile_, folder="c", words=(), **environment):
        given = [w for m, model in methods for w in ("--method", f"{m}={model}")]
        return subprocess.run([PETREL, "gen-c", *given, "-o", folder, "--name", name, "--compile",
                               compile_, *QUICK_PLAN, *words], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, **environment})

    def generated(self, *words, CC="gcc -mtune=generic", **environment):
        result = self.generate(*words, CC=CC, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        # Folders are used again for other models.
        self.assertLessEqual(len(result.stderr.splitlines()), 1)
        self.assertRegex(result.stderr, r"^$|^petrel gen-c: removed from ")

    def app(self, name, methods, words=()):
        """The app that knows no model, with the object of one."""
        self.generated(name, methods, "obj", "c", words)
        (self.folder / "any_model.c").write_text(ANY_MODEL)
        done(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Ic",
              f"-DMODEL={name}_get_model_metadata", "any_model.c", f"c/{name}.o", "-lm", "-o",
              "any_model"], self.folder)

    def calls(self, how, calls):
        """The first output of each (method, inputs)."""
        for n, (_, inputs) in enumerate(calls, 1):
            for i, data in enumerate(inputs):
                (self.folder / f"{n}.in{i}").write_bytes(data)
        done(["./any_model", how, *(method for method, _ in calls)], self.folder)
        return [(self.folder / f"{n}.out0").read_bytes()
                for n, (method, _) in enumerate(calls, 1) if method != "reset"]

    def test_app_that_knows_no_model_runs_one_through_its_object(self):
        for name, model, inputs in (
                ("digits", DIGITS, [DIGIT]),
                ("lstm", LAYERS / "lstm.pt2", sorted(LAYERS.glob("lstm.input_*.npy")))):
            self.app(name, [("forward", model)])
            expected = arrays.interpreted(self.folder, model, inputs)
            data = [npy_file.read(file).data for file in inputs]
            for how in ("in-place", "copied"):
                self.assertEqual(self.calls(how, [("forward", data)]), [expected[0].data], how)

    def test_memory_of_several_pools_comes_as_a_list(self):
        self.app("digits", [("forward", DIGITS)], ["--pool", "fast=10K", "--pool", "slow=256K"])
        memories = json.loads((self.folder / "c/manifest.json").read_text())["memories"]
        self.assertEqual([m["name"] for m in memories], ["fast", "slow"])
        self.assertTrue(all(m["bytes"] > 0 for m in memories))
        expected = arrays.interpreted(self.folder, DIGITS, [DIGIT])
        data = [npy_file.read(DIGIT).data]
        for how in ("in-place", "copied"):
            self.assertEqual(self.calls(how, [("forward", data)]), [expected[0].data], how)
        self.generated("digits", [("forward", DIGITS)], "so", "c",
                       ["--pool", "fast=10K", "--pool", "slow=256K"])

    def test_methods_share_state_through_the_packed_convention(self):
        self.app("counter", [(m, STATE / f"counter.{m}.pt2") for m in ("add", "read")])
        one = struct.pack("<4f", 1, 1, 1, 0.5)
        added, total, again = self.calls("copied", [("add", [one]), ("read", []), ("reset", []),
                                                    ("read", [])])
        self.assertEqual(struct.unpack("<4f", added), (2, 3, 4, 4.5))
        self.assertEqual(struct.unpack("<4f", total), (20, 30, 40, 45))
        self.assertEqual(struct.unpack("<4f", again), (10, 20, 30, 40))

    def test_direct_interface_leaves_the_packed_convention_out(self):
        models = {"digits": [("forward", DIGITS)], "rows": [("forward", VARYING / "mlp.pt2")]}
        for name, methods in models.items():
            bytes_ = {}
            for interface in ("packed", "direct"):
                self.generated(name, methods, "obj", interface, ["--interface", interface])
                listed = done(["nm", f"{interface}/{name}.o"], self.folder)
                self.assertEqual(f"{name}_run_packed" in listed, interface == "packed")
                self.assertIn(f" T {name}_run\n", listed)
                self.assertIn(f" T {name}_get_model_metadata\n", listed)
                manifest = json.loads((self.folder / interface / "manifest.json").read_text())
                self.assertEqual(manifest["interface"], interface)
                bytes_[interface] = int(done(["size", f"{interface}/{name}.o"],
                                             self.folder).splitlines()[1].split()[0])
            self.assertLess(bytes_["direct"], bytes_["packed"])
        (self.folder / "null.c").write_text(NULL)
        done(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Idirect",
              "-DMODEL=rows_get_model_metadata", "null.c", "direct/rows.o", "-lm", "-o", "null"],
             self.folder)
        self.assertEqual(done(["./null"], self.folder), "forward 1 1\n")

    def test_direct_interface_excludes_what_runs_models_by_the_packed_convention(self):
        for compile_, words, message in (
                ("so", [], "--interface direct excludes --compile so: modules are run by the packed "
                           "convention"),
                ("none", ["--device-rpc"], "--interface direct excludes --device-rpc: hosts run "
                                           "models by the packed convention")):
            result = self.generate("kws", [("forward", DIGITS)], compile_, "no",
                                   ["--interface", "direct", *words])
            self.assertEqual((result.returncode, result.stderr), (1, f"petrel gen-c: {message}\n"))
            self.assertFalse((self.folder / "no").exists())

    def test_name_whose_plan_is_the_header_of_plans_is_refused(self):
        result = self.generate("petrel", [("forward", DIGITS)], "none", "no", ["--device-rpc"])
        self.assertEqual((result.returncode, result.stderr), (1, "petrel gen-c: --name petrel excludes "
                         "--device-rpc: petrel_plan.h would be two files\n"))

    def test_object_has_all_of_the_package_but_its_self_test(self):
        self.generated("kws", [("forward", DIGITS)], "obj")
        symbols = re.findall(r" T (\w+)", done(["nm", "c/kws.o"], self.folder))
        self.assertLessEqual({"kws_init", "kws_run", "kws_get_model_metadata",
                              "kws_lookup_linked_param"}, set(symbols))
        self.assertNotIn("kws_selftest", symbols)

    def test_tensors_are_found_by_the_users_name_and_by_that_in_c(self):
        self.app("kws", [("forward", DIGITS)])
        (self.folder / "names.c").write_text(NAMES)
        done(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Ic",
              "-DMODEL=kws_get_model_metadata", "names.c", "c/kws.o", "-lm", "-o", "names"],
             self.folder)
        self.assertEqual(done(["./names", "image", "linear", "imag", "image2", ""], self.folder),
                         "0 -1\n-1 0\n-1 -1\n-1 -1\n-1 -1\n")

        self.app("kws", [("forward", PORTABLE / "words.pt2")])  # linux, which C has taken
        done(["gcc", "-std=c99", "-Ic", "-DMODEL=kws_get_model_metadata", "names.c", "c/kws.o",
              "-lm", "-o", "names"], self.folder)
        inputs = json.loads((self.folder / "c/manifest.json").read_text())["methods"][0]["inputs"]
        self.assertIn(("linux", "linux_"), [(t["name"], t["c_name"]) for t in inputs])
        for i, tensor in enumerate(inputs):
            self.assertEqual(done(["./names", tensor["name"], tensor["c_name"]], self.folder),
                             f"{i} -1\n{i} -1\n")

    def test_view_for_cplusplus_says_the_same(self):
        self.generated("kws", [("forward", DIGITS)], "obj")
        (self.folder / "view.cc").write_text(VIEW)
        done(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow",
              "-Wconversion", "-Ic", "-DMODEL=kws_get_model_metadata", "view.cc", "c/kws.o", "-lm",
              "-o", "view"], self.folder)
        manifest = json.loads((self.folder / "c/manifest.json").read_text())
        self.assertEqual(done(["./view"], self.folder),
                         f"arena {manifest['arena_bytes']}\nforward 1 1\n1 1 8 8 ")

    def left(self, *words):
        """The names in the folder after a run there, and what it said."""
        run = subprocess.run([*ONE_LEVEL, PETREL, "gen-c", CELL, "-o", "c", *words], cwd=self.folder,
                             stderr=subprocess.PIPE, text=True, check=True)
        return {file.name for file in (self.folder / "c").iterdir()}, run.stderr

    def test_folder_has_nothing_of_an_earlier_run(self):
        first, said = self.left("--name", "kws", "--pool", "sram=1M", "--compile", "so")
        self.assertEqual(said, "")
        self.assertTrue({"kws_memory.c", "libkws.so"} < first)
        digests = json.loads((self.folder / "c/manifest.json").read_text())["files"]
        self.assertEqual(set(digests), first - {"manifest.json", "libkws.so"})
        for name, digest in digests.items():
            data = (self.folder / "c" / name).read_bytes()
            self.assertEqual(hashlib.sha256(data).hexdigest(), digest, name)
        second, said = self.left("--name", "kws", "--compile", "obj")
        self.assertEqual(second, first - {"kws_memory.c", "libkws.so"} | {"kws.o"})
        self.assertIn("and this one did not: kws_memory.c, libkws.so\n", said)
        # Of another package everything stays.
        third, said = self.left("--name", "digits")
        self.assertTrue(second < third)
        self.assertEqual(said, "")

    def test_what_others_made_stays_in_the_folder(self):
        self.left("--name", "kws", "--pool", "sram=1M")
        folder, outside = self.folder / "c", self.folder / "mine.c"
        manifest = json.loads((folder / "manifest.json").read_text())
        outside.write_text("int mine;")
        digest = hashlib.sha256(b"int mine;").hexdigest()
        for name in ("../mine.c", str(outside), "folder", "link.c", "", ".", "..", "a\0b"):
            manifest["files"][name] = digest
        (folder / "folder").mkdir()
        (folder / "link.c").symlink_to(outside)
        (folder / "libkws.so").write_text(manifest["sha256"])
        with (folder / "kws_memory.c").open("a") as file:
            file.write("/* mine */")
        for text in (json.dumps(manifest), "[]", '{"files": 1}', '{"files": {"kws.mk": 2}}', "{"):
            (folder / "manifest.json").write_text(text)
            names, said = self.left("--name", "kws")
            self.assertTrue({"folder", "link.c", "libkws.so", "kws_memory.c"} < names, text)
            self.assertTrue(outside.exists() and (folder / "link.c").is_symlink())
            self.assertNotIn("kws_memory.c", said)

    def test_library_exports_one_symbol_and_has_the_manifest_as_data(self):
        self.generated("kws", [("forward", CELL)], "so", CC="gcc")
        listed = done(["nm", "-D", "--defined-only", "c/libkws.so"], self.folder)
        self.assertRegex(listed, r"\A[0-9a-f]+ T petrel_compiled_model\n\Z")
        done(["objcopy", "--dump-section", ".petrel=section", "c/libkws.so", "copy.so"],
             self.folder)
        section = (self.folder / "section").read_bytes()
        magic, abi, manifest_bytes, file_bytes = struct.unpack_from("<8sIIQ", section)
        self.assertEqual((magic, abi), (b"PETRELM\0", 5))
        self.assertEqual(file_bytes, (self.folder / "c/libkws.so").stat().st_size)
        manifest = (self.folder / "c/manifest.json").read_bytes()
        self.assertEqual(section[88:88 + manifest_bytes], manifest)
        self.assertEqual(section[24:56].hex(), json.loads(manifest)["sha256"])

    def test_equal_models_give_equal_libraries_and_others_another_digest(self):
        for folder in ("a", "b"):
            self.generated("kws", [("forward", CELL)], "so", folder, CC="gcc")
        self.assertEqual((self.folder / "a/libkws.so").read_bytes(),
                         (self.folder / "b/libkws.so").read_bytes())
        self.generated("kws", [("forward", LAYERS / "pixels.pt2")], "so", "c")
        digests = {json.loads((self.folder / f / "manifest.json").read_text())["sha256"]
                   for f in "abc"}
        self.assertEqual(len(digests), 2)

    def test_compiler_that_is_missing_or_fails_is_named_and_nothing_is_written(self):
        for compiler, message in (
                ("no-such-cc -m64", "C compiler 'no-such-cc' cannot be started: No such file or "
                                    "directory; CC names another one"),
                ("gcc -no-such-option", r"'gcc -no-such-option -std=c99 .*' failed with exit code "
                                        r"1\n.*unrecognized command-line option")):
            result = self.generate("kws", [("forward", DIGITS)], "so", CC=compiler)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, "petrel gen-c: " + message)
            self.assertFalse((self.folder / "c").exists())
        self.generated("kws", [("forward", CELL)], "so", CC=" gcc  -m64 ")
        self.assertTrue((self.folder / "c/libkws.so").exists())


if __name__ == "__main__":
    unittest.main()
