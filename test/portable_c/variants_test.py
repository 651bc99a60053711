# SPDX-License-Identifier: Apache-2.0
"""Variants of kernels of integers: on each target and forced one by one they are the
interpreter's bit for bit, the manifest says which ran, and what cannot be is refused by name."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import npy_file
import package
from command import ONE_LEVEL, PETREL, done

PROGRAMS = pathlib.Path("test/quantized/programs").absolute()
INTEGER = pathlib.Path("test/quantized/integer").absolute()
VARYING = pathlib.Path("test/models/varying").absolute()
MODELS = [INTEGER / name for name in ("keywords", "autoencoder", "many", "shapes")]
MODELS += [PROGRAMS / name for name in ("image_channel", "rows")]
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = DIGITS.with_name("digit.npy")
TARGETS = ("generic", "cortex-m4", "cortex-m55", "rv32", "x86-64", "arm64")
CONVOLUTION, LINEAR = "petrel::int8_convolution.out", "petrel::int8_linear.out"
VARIANTS = {CONVOLUTION: ("depthwise-smla", "im2col-smlad", "im2col-words", "depthwise-channels",
                          "im2col-dot", "direct"),
            LINEAR: ("quad-smlad", "dot", "direct")}
INTEGERS = ("--int8", "integer")


# Of 2048 floats, with what y[i] is.
USER = """#include "net_kernels.h"

void my_relu(const void *const *inputs, void *const *outputs) {
  const float *x = (const float *)inputs[0];
  float *y = (float *)outputs[0];
  for (int i = 0; i < 2048; ++i) y[i] = %s;
}
"""
RELU = USER % "x[i] > 0.0f ? x[i] : 0.0f"
MINUS = USER % "-x[i]"


class VariantsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def expected(self, model):
        done([PETREL, "export", model.with_suffix(".pt2"), "-o", "i.pte", "--backend", "none",
              *INTEGERS], self.folder)
        done([PETREL, "run", "i.pte", "--input", model.with_suffix(".input.npy"), "--kernels",
              "reference", "--output-dir", "out"], self.folder)
        return npy_file.read(self.folder / "out" / "output_0.npy").data

    def made(self, model, words, flags=()):
        return package.Package(self.folder, "net", [("forward", model.with_suffix(".pt2"))],
                               (*INTEGERS, *words), more=flags)

    def check(self, model, words, expected, flags=()):
        built = self.made(model, words, flags)
        actual, = built.run("forward", [npy_file.read(model.with_suffix(".input.npy")).data])
        self.assertEqual(actual, expected)
        built.selftest()
        return built.manifest["methods"][0]["kernels"]

    def refuse(self, model, words):
        run = subprocess.run([*ONE_LEVEL, PETREL, "gen-c", model.with_suffix(".pt2"), "-o", "c",
                              *words],
                             cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertFalse((self.folder / "c").exists())
        return run.stderr

    def test_targets(self):
        for model in MODELS:
            expected = self.expected(model)
            sources = set()  # several targets have the same
            for target in TARGETS:
                package.generate(self.folder, "net", [("forward", model.with_suffix(".pt2"))],
                                 (*INTEGERS, "--target", target))
                source = tuple((self.folder / "c" / f"net{part}").read_bytes()
                               for part in (".c", "_params.c", ".h"))
                if source in sources:
                    continue
                sources.add(source)
                with self.subTest(model=model.name, target=target):
                    self.check(model, ("--target", target), expected)
            self.assertGreater(len(sources), 1)

    def test_vectors_of_this_machine(self):
        for model in MODELS:
            with self.subTest(model.name):
                self.check(model, ("--target", "x86-64"), self.expected(model),
                           ("-march=native", "-O3"))

    def test_every_variant_runs_when_it_is_asked_for(self):
        ran = set()
        for model in (INTEGER / "shapes", PROGRAMS / "rows"):
            expected = self.expected(model)
            kernels = self.check(model, (), expected, package.UNOPTIMISED)
            for kernel in kernels:
                for variant in VARIANTS[kernel["operator"]]:
                    with self.subTest(model=model.name, node=kernel["node"], variant=variant):
                        words = ("--kernel", f"{kernel['node']}={variant}")
                        run = subprocess.run(
                            [PETREL, "gen-c", model.with_suffix(".pt2"), "-o", "tried", *INTEGERS,
                             *words], cwd=self.folder, capture_output=True, text=True, check=False)
                        if run.returncode != 0:
                            self.assertIn("is not what it needs", run.stderr)
                            continue
                        kernels = self.check(model, words, expected, package.UNOPTIMISED)
                        self.assertIn({**kernel, "variant": variant, "variants": [variant]}, kernels)
                        self.assertIn(variant, kernel["variants"])
                        ran.add((kernel["operator"], variant))
        self.assertEqual(ran, {(k, v) for k, variants in VARIANTS.items() for v in variants})

    def test_channels_innermost_at_the_border(self):
        words = ("--io-dtype", "int8", "--io-layout", "nhwc")
        for target in ("generic", "cortex-m4"):
            built = self.made(PROGRAMS / "image_channel", (*words, "--target", target))
            tensor, = built.manifest["methods"][0]["inputs"]
            self.assertEqual(tensor["dim_order"], [0, 2, 3, 1])
            built.selftest()

    def test_channels_innermost_at_a_border_of_floats(self):
        for words in (("--io-layout", "nhwc"), ("--io-layout", "nhwc", "--io", "caller")):
            with self.subTest(words=words):
                built = self.made(PROGRAMS / "image_channel", words)
                tensor, = built.manifest["methods"][0]["inputs"]
                self.assertEqual(tensor["dim_order"], [0, 2, 3, 1])
                built.selftest()

    def digits(self, name, words):
        folder = self.folder / name
        folder.mkdir()
        built = package.Package(folder, "net", [("forward", DIGITS)], words,
                                more=package.UNOPTIMISED)
        actual, = built.run("forward", [npy_file.read(DIGIT).data])
        return built, actual

    def test_a_kernel_of_the_user_takes_the_place_of_a_node(self):
        words = ("--kernel-source", self.folder / "my.c:my_relu", "--kernel", "relu_1=my_relu")
        (self.folder / "my.c").write_text(RELU)
        _, expected = self.digits("without", ())
        built, actual = self.digits("with", words)
        self.assertEqual(actual, expected)
        built.selftest()
        self.assertIn({"node": "relu_1", "operator": "aten::relu.out", "variant": "my_relu"},
                      built.manifest["methods"][0]["kernels"])
        self.assertIn("net_kernel_my.c", built.manifest["sources"])
        # It is really called.
        (self.folder / "my.c").write_text(MINUS)
        _, actual = self.digits("other", words)
        self.assertNotEqual(actual, expected)

    def test_a_kernel_of_the_user_in_assembly(self):
        _, expected = self.digits("without", ())
        words = ("--kernel-source", self.folder / "my.S:my_relu", "--kernel", "relu_1=my_relu")
        for name, text in (("same", RELU), ("other", MINUS)):
            (self.folder / "my.c").write_text(text.replace('#include "net_kernels.h"\n', ""))
            done(["gcc", "-O2", "-fPIC", "-S", "my.c", "-o", "my.S"], self.folder)
            built, actual = self.digits(name, words)
            self.assertIn("net_kernel_my.S", built.manifest["sources"])
            self.assertEqual(actual == expected, name == "same")
        done([*ONE_LEVEL, PETREL, "gen-c", DIGITS, "-o", "so", "--name", "net", *words, "--compile",
              "so"], self.folder)
        self.assertTrue((self.folder / "so/libnet.so").exists())

    def test_a_kernel_of_the_user_in_an_archive_or_with_flags(self):
        (self.folder / "include").mkdir()
        (self.folder / "include/sign.h").write_text("#define SIGN -\n")
        (self.folder / "my.c").write_text('#include <sign.h>\n' + USER % "SIGN x[i]")
        kernel = ("--kernel", "relu_1=my_relu")
        flags = (f"--kernel-flag=-I{self.folder / 'include'}", "--kernel-flag=-DX=1")
        for name, words in [("flags", ("--kernel-source", self.folder / "my.c:my_relu", *flags)),
                            ("archive", ("--kernel-source", self.folder / "my.a:my_relu"))]:
            made = self.folder / name
            if name == "archive":
                done(["gcc", "-O2", "-Iinclude", "-Iflags", "-c", "my.c"], self.folder)
                done(["ar", "rcs", "my.a", "my.o"], self.folder)
            done([PETREL, "gen-c", DIGITS, "-o", made, "--name", "net", *kernel, *words,
                  "--compile", "obj"], self.folder)
            # The self-test knows what the node computes without it.
            done(["gcc", "-std=c99", "-DNET_SELFTEST_MAIN", made / "net_selftest.c", made / "net.o",
                  "-lm", "-o", "linked"], self.folder)
            self.assertEqual(subprocess.run([self.folder / "linked"]).returncode, 1)
            (made / "net.o").unlink()
            done(["make", "-s", f"NET_DIR={made}", "-f", made / "net.mk", made / "net_selftest"],
                 self.folder)
            self.assertEqual(subprocess.run([made / "net_selftest"]).returncode, 1)
        (self.folder / "my.a").write_text("my_relu")
        given = (*kernel, "--kernel-source", self.folder / "my.a:my_relu")
        self.assertIn("the file is no archive of objects",
                      self.refuse(DIGITS.with_suffix(""), given))
        self.assertIn("--kernel-flag '-D X': must begin",
                      self.refuse(DIGITS.with_suffix(""), (*kernel, "--kernel-source",
                                                           "my.c:my_relu", "--kernel-flag=-D X")))

        self.assertIn("--kernel-flag '-DX': there is no --kernel-source",
                      self.refuse(DIGITS.with_suffix(""), ("--kernel-flag=-DX",)))

    def generate_with_assembly(self):
        """A package with a kernel in assembly, which stops where nothing says -DFOR_THIS."""
        (self.folder / "my.c").write_text(RELU.replace('#include "net_kernels.h"\n', ""))
        done(["gcc", "-O2", "-fPIC", "-S", "my.c", "-o", "my.S"], self.folder)
        (self.folder / "my.S").write_text(
            "#ifndef FOR_THIS\n#error\n#endif\n" + (self.folder / "my.S").read_text())
        done([PETREL, "gen-c", DIGITS, "-o", "c", "--name", "net", "--kernel-source",
              "my.S:my_relu", "--kernel", "relu_1=my_relu"], self.folder)

    def test_make_knows_assembly_of_the_user(self):
        self.generate_with_assembly()
        done(["make", "-s", "-C", "c", "-f", "net.mk", "CFLAGS=-DFOR_THIS", "net_selftest"],
             self.folder)
        done(["c/net_selftest"], self.folder)

    @unittest.skipUnless(shutil.which("cmake"), "there is no cmake")
    def test_cmake_knows_assembly_of_the_user_in_a_shared_library(self):
        self.generate_with_assembly()
        # Of all of the package: the addresses of parameters are in its code and its metadata.
        (self.folder / "app.c").write_text(
            '#include "net.h"\nint go(struct net_context *c, const struct net_inputs *i, '
            "const struct net_outputs *o) { return net_run(c, i, o); }\n"
            "const void *tell(void) { return net_get_model_metadata(); }\n")
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.13)\nproject(app C)\ninclude(c/net.cmake)\n"
            "add_library(app SHARED app.c)\ntarget_link_libraries(app PRIVATE net_model)\n"
            "target_link_options(app PRIVATE -Wl,-z,defs)\n")
        done(["cmake", "-DCMAKE_ASM_FLAGS=-DFOR_THIS", "-S", ".", "-B", "b"], self.folder)
        done(["cmake", "--build", "b", "--target", "app", "net_selftest"], self.folder)
        done(["b/net_selftest"], self.folder)

    def test_a_module_is_whole(self):
        declared = "void my_relu(const void *const *inputs, void *const *outputs);\n"
        for text in (declared, "void other(void);\n" + RELU.replace("0.0f;", "0.0f, other();")):
            (self.folder / "my.c").write_text(text)
            message = self.refuse(DIGITS.with_suffix(""), (
                "--kernel-source", "my.c:my_relu", "--kernel", "relu_1=my_relu", "--name", "net",
                "--compile", "so"))
            self.assertIn("my_relu" if text is declared else "other", message)

    def test_a_kernel_of_the_user_with_other_arguments_does_not_compile(self):
        for arguments in ("const float *x, float *y", "void", "const float **x, float **y"):
            (self.folder / "my.c").write_text(f"void my_relu({arguments}) {{ }}\n")
            message = self.refuse(DIGITS.with_suffix(""), (
                "--kernel-source", "my.c:my_relu", "--kernel", "relu_1=my_relu", "--name", "net",
                "--compile", "obj"))
            self.assertIn("conflicting types for 'my_relu'", message.replace("‘", "'").replace("’", "'"))

    def test_a_kernel_of_the_user_is_not_written_over(self):
        (self.folder / "net.c").write_text(RELU)
        run = subprocess.run([PETREL, "gen-c", DIGITS, "-o", ".", "--name", "net", "--kernel-source",
                              "./net.c:my_relu", "--kernel", "relu_1=my_relu"], cwd=self.folder,
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("net.c", run.stderr)
        self.assertEqual((self.folder / "net.c").read_text(), RELU)

    def test_a_kernel_of_the_user_that_cannot_be(self):
        (self.folder / "my.c").write_text(RELU)
        given = ("--kernel", "relu_1=my_relu", "--kernel-source")
        for word, why in [("my.c", "must be FILE:SYMBOL"), ("my.o:f", "must end in .c, .S or .a"),
                          ("other.c:my_relu", "other.c"), ("my.c:absent", "has no absent"),
                          ("my.c:int", "is no name that C can have")]:
            with self.subTest(word):
                message = self.refuse(DIGITS.with_suffix(""), (*given, word))
                self.assertIn(f"--kernel-source '{word}'", message)
                self.assertIn(why, message)
        (self.folder / "other").mkdir()
        (self.folder / "other/my.c").write_text(RELU.replace("my_relu", "my_other"))
        message = self.refuse(DIGITS.with_suffix(""),
                              (*given, "my.c:my_relu", "--kernel-source", "other/my.c:my_other",
                               "--kernel", "relu_2=my_other"))
        self.assertIn("another file is called my.c", message)
        message = self.refuse(DIGITS.with_suffix(""), ("--kernel-source", "my.c:my_relu"))
        self.assertIn("says whose kernel it is", message)
        message = self.refuse(DIGITS.with_suffix(""),
                              ("--kernel-source", "my.c:my_relu", "--kernel", "relu_9=my_relu"))
        self.assertIn("no node has such a name; they are called", message)

    def test_unknown_variant(self):
        message = self.refuse(INTEGER / "keywords", (*INTEGERS, "--kernel", "*=fastest"))
        self.assertIn("--kernel '*=fastest': there is no such variant of petrel::int8_", message)
        self.assertIn("im2col-smlad (needs i8, one group)", message)

    def test_unknown_node(self):
        message = self.refuse(INTEGER / "keywords", (*INTEGERS, "--kernel", "conv9=direct"))
        self.assertIn("no node whose kernel has variants has such a name; they are called", message)

    def test_no_sign(self):
        message = self.refuse(INTEGER / "keywords", (*INTEGERS, "--kernel", "direct"))
        self.assertIn("--kernel 'direct': must be NODE=VARIANT", message)

    def test_floats_have_no_variants(self):
        message = self.refuse(INTEGER / "keywords", ("--kernel", "*=direct"))
        self.assertIn("there are none, as without --int8 integer", message)

    def test_a_border_whose_sizes_vary_keeps_its_layout(self):
        message = self.refuse(VARYING / "cnn_image", ("--io-layout", "nhwc"))
        self.assertIn("--io-layout nhwc: input", message)
        self.assertIn("cannot lie so: its sizes vary", message)

    def test_the_manifest_says_the_target(self):
        manifest = package.generate(self.folder, "net", [("forward", INTEGER / "keywords.pt2")],
                                    (*INTEGERS, "--target", "cortex-m4"))
        self.assertEqual(manifest["target"], "cortex-m4")
        self.assertIn("im2col-smlad", json.dumps(manifest["methods"][0]["kernels"]))


if __name__ == "__main__":
    unittest.main()
