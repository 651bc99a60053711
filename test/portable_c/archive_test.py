# SPDX-License-Identifier: Apache-2.0
"""`gen-c --package`: the archive is the same each time, says what the model says, and builds."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

from command import PETREL, done

DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
STATE = pathlib.Path("test/models/state").absolute()
INTEGER = pathlib.Path("test/quantized/integer/keywords.pt2").absolute()
MODELS = {
    "plain": [DIGITS],
    "pools": [DIGITS, "--pool", "small=8K", "--pool", "large=256K", "--constants", "incbin"],
    "state": ["--method", f"add={STATE}/counter.add.pt2", "--method",
              f"read={STATE}/counter.read.pt2"],
    # With scales of its border and of its weights.
    "levels": [INTEGER, "--int8", "integer", "--io-dtype", "int8"],
}

# Prints the struct as metadata.json has it.
TELL = r"""#include <stdio.h>
#include "petrel_model.h"
const struct petrel_model_metadata *NAME_get_model_metadata(void);
static void list(const char *key, const int32_t *numbers, uint32_t count) {
  printf("\"%s\": [", key);
  for (uint32_t i = 0; i < count; ++i) printf("%s%d", i ? ", " : "", numbers[i]);
  printf("]");
}
static void tensors(const char *key, const struct petrel_tensor_info *all, uint32_t count) {
  printf("\"%s\": [", key);
  for (uint32_t i = 0; i < count; ++i) {
    const struct petrel_tensor_info *t = &all[i];
    printf("%s{\"name\": \"%s\", \"c_name\": \"%s\", \"dtype\": %d, \"rank\": %u, ", i ? ", " : "",
           t->name, t->c_name, t->dtype, t->rank);
    list("sizes", t->sizes, t->rank);
    printf(", \"dim_order\": [");
    for (uint32_t d = 0; d < t->rank; ++d) printf("%s%d", d ? ", " : "", t->dim_order[d]);
    printf("], \"bytes\": %zu", t->bytes);
    if (t->least_sizes) { printf(", "); list("least_sizes", t->least_sizes, t->rank); }
    printf(", \"scale\": %.17g, \"zero_point\": %d}", t->scale, (int)t->zero_point);
  }
  printf("]");
}
static void text(const char *key, const char *value) {
  printf(value ? ", \"%s\": \"%s\"" : ", \"%s\": null", key, value);
}
static void params(const struct petrel_model_metadata *m) {
  printf(", \"params\": [");
  for (uint32_t i = 0; i < m->num_params; ++i) {
    const struct petrel_param_info *p = &m->params[i];
    printf("%s{\"id\": %u, \"kind\": %d, \"dtype\": %d, \"rank\": %u, ", i ? ", " : "", p->id,
           (int)p->kind, (int)p->dtype, p->rank);
    list("sizes", p->sizes, p->rank);
    text("name", p->name);
    text("sha256", p->sha256);
    text("pool", p->pool);
    text("targets", p->targets);
    printf(", \"bytes\": %zu, \"scale\": %.17g, \"zero_point\": %d, \"scales\": %d, \"axis\": %d}",
           p->bytes, p->scale, (int)p->zero_point, (int)p->scales, (int)p->axis);
  }
  printf("], \"devices\": [");
  for (uint32_t i = 0; i < m->num_devices; ++i)
    printf("%s\"%s\"", i ? ", " : "", m->devices[i].name);
  printf("]");
}
int main(void) {
  const struct petrel_model_metadata *m = NAME_get_model_metadata();
  printf("{\"magic\": %u, \"abi_version\": %u, \"name\": \"%s\", \"sha256\": \"%s\", \"methods\": [",
         m->magic, m->abi_version, m->name, m->sha256);
  for (uint32_t i = 0; i < m->num_methods; ++i) {
    const struct petrel_method_info *f = &m->methods[i];
    printf("%s{\"name\": \"%s\", ", i ? ", " : "", f->name);
    tensors("inputs", f->inputs, f->num_inputs);
    printf(", ");
    tensors("outputs", f->outputs, f->num_outputs);
    printf(", \"arena_bytes\": %zu, \"io_bytes\": %zu, \"steps\": [", f->arena_bytes, f->io_bytes);
    for (uint32_t s = 0; s < f->num_steps; ++s)
      printf("%s{\"name\": \"%s\", \"kernel\": \"%s\"}", s ? ", " : "", f->steps[s].name,
             f->steps[s].kernel);
    printf("]}");
  }
  printf("], \"pools\": [");
  for (uint32_t i = 0; i < m->num_pools; ++i)
    printf("%s{\"name\": \"%s\", \"bytes\": %zu, \"align\": %zu, \"is_kept\": %u}", i ? ", " : "",
           m->pools[i].name, m->pools[i].bytes, m->pools[i].align, m->pools[i].is_kept);
  printf("], \"constant_bytes\": %zu", m->constant_bytes);
  params(m);
  printf("}\n");
}
"""


class ArchiveTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def pack(self, words, output="c"):
        done([PETREL, "gen-c", *words, "-o", output, "--name", "net", "--package",
              f"{output}.zip"], self.folder)
        return self.folder / f"{output}.zip"

    def unpacked(self, words):
        archive = self.pack(words)
        folder = self.folder / "unpacked"
        shutil.rmtree(folder, ignore_errors=True)
        with zipfile.ZipFile(archive) as opened:
            self.assertIsNone(opened.testzip())
            opened.extractall(folder)
        return folder

    def test_equal_models_give_equal_bytes_in_the_order_of_names(self):
        one, two = self.pack([DIGITS], "one"), self.pack([DIGITS], "two")
        self.assertEqual(one.read_bytes(), two.read_bytes())
        with zipfile.ZipFile(one) as archive:
            names = archive.namelist()
            self.assertEqual(names, sorted(names))
            self.assertEqual({i.date_time for i in archive.infolist()}, {(1980, 1, 1, 0, 0, 0)})
            self.assertEqual({i.external_attr >> 16 for i in archive.infolist()}, {0o100644})
            for file in (self.folder / "one").iterdir():
                self.assertEqual(archive.read(f"src/{file.name}"), file.read_bytes())

    def test_the_manifest_has_every_file(self):
        folder = self.unpacked([DIGITS])
        manifest = json.loads((folder / "manifest.json").read_text())
        files = {str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file()}
        self.assertEqual({row["path"] for row in manifest["files"]}, files - {"manifest.json"})
        for row in manifest["files"]:
            data = (folder / row["path"]).read_bytes()
            self.assertEqual((row["bytes"], row["sha256"]),
                             (len(data), hashlib.sha256(data).hexdigest()), row["path"])
        version = done([PETREL, "--version"], self.folder)
        self.assertIn(manifest["petrel"], version)

    def test_metadata_is_what_the_struct_says(self):
        for name, words in MODELS.items():
            with self.subTest(name):
                folder = self.unpacked(words)
                (folder / "tell.c").write_text(TELL.replace("NAME", "net"))
                done(["make"], folder)
                done(["cc", "-std=c99", "-Isrc", "tell.c", "libnet.a", "-lm", "-o", "tell"], folder)
                told = json.loads(done([folder / "tell"], folder))
                self.assertEqual(json.loads((folder / "metadata.json").read_text()), told)

    def test_make_builds_the_library_its_self_test_and_the_template(self):
        for name, words in MODELS.items():
            with self.subTest(name):
                folder = self.unpacked(words)
                done(["make"], folder)
                done(["make", "selftest"], folder)
                done([folder / "src/net_selftest"], folder)
                done(["cc", "-std=c99", "-Isrc", "templates/main.c", "libnet.a", "-lm", "-o",
                      "main"], folder)
                done([folder / "main"], folder)
                sketch = (folder / "examples/net/net.ino").read_text()
                (folder / "sketch.cc").write_text(
                    '#include <cstdio>\nstruct { void begin(int) {} void println(const char *t)'
                    ' { puts(t); } } Serial;\n' + sketch +
                    '\nint main() { setup(); loop(); }\n')
                done(["g++", "-std=c++17", "-Isrc", "sketch.cc", "libnet.a", "-o", "sketch"], folder)
                self.assertEqual(done([folder / "sketch"], folder), "net: self-test passed\n")

    def test_the_files_of_ecosystems_name_what_is_there(self):
        folder = self.unpacked([DIGITS])
        sources = {f.name for f in (folder / "src").glob("*.c")}
        library = json.loads((folder / "library.json").read_text())
        rows = dict(line.split("=", 1) for line in
                    (folder / "library.properties").read_text().splitlines())
        semantic = r"\d+\.\d+\.\d+\+[0-9a-f]{8}"
        for version in (library["version"], rows["version"]):
            self.assertRegex(version, f"^{semantic}$")
        for key in ("name", "version", "author", "maintainer", "sentence", "paragraph", "category",
                    "url", "architectures"):
            self.assertTrue(rows[key], key)
        self.assertTrue((folder / "src" / rows["includes"]).exists())
        pack = ElementTree.parse(folder / "Petrel.net.pdsc").getroot()
        named = [file.get("name") for file in pack.iter("file")]
        for name in named:
            self.assertTrue((folder / name).exists(), name)
        self.assertLessEqual({f"src/{name}" for name in sources}, set(named))
        # What the schema of packs says of it.
        self.assertRegex(pack.find("components/component").get("Cversion"), r"^\d+\.\d+\.\d+$")
        listed = set(re.findall(r"\.\./src/(\S+\.c)\)?", (folder / "zephyr/CMakeLists.txt").read_text()))
        self.assertEqual({name.rstrip(")") for name in listed}, sources)

    def test_nothing_is_written_when_the_archive_cannot_be(self):
        run = subprocess.run([PETREL, "gen-c", DIGITS, "-o", "c", "--name", "net", "--package",
                              "no/such/x.zip"], cwd=self.folder, text=True, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 1)
        self.assertIn("no/such/x.zip", run.stderr)
        self.assertFalse((self.folder / "c").exists())
        run = subprocess.run([PETREL, "gen-c", DIGITS, "-o", "c", "--name", "net", "--package",
                              "x.tar"], cwd=self.folder, text=True, stderr=subprocess.PIPE)
        self.assertIn("--package 'x.tar': must end in .zip", run.stderr)
        self.assertFalse((self.folder / "c").exists() or (self.folder / "x.tar").exists())


if __name__ == "__main__":
    unittest.main()
