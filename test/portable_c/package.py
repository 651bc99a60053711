# SPDX-License-Identifier: Apache-2.0
"""Generates C with `petrel gen-c`, compiles it, and runs it on given bytes.

    package = Package(folder, "kws", [("forward", model)])
    outputs = package.run("forward", [bytes of each input])   bytes of each output

An input whose sizes vary is an array of npy_file; the shapes of outputs that vary are in
package.shapes[call][output]. The app is written from manifest.json alone, as a user would.
"""

import json
import pathlib
import struct

import arrays
from command import PETREL, QUICK_PLAN, done

# What firmware people compile with.
WARNINGS = ("-Wall -Wextra -Wconversion -Wsign-conversion -pedantic -Werror -Wshadow -Wcast-qual "
            "-Wcast-align -Wundef -Wmissing-prototypes -Wstrict-prototypes -Wdouble-promotion "
            "-Wvla").split()
EXACT = ["-O2", "-ffp-contract=off"]
# Further flags: for what no level of optimisation shows, and for mistakes that it may hide.
UNOPTIMISED = ["-O0"]
SANITIZED = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

APP = """#include "{name}.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_file(int call, const char *role, int i, const char *mode) {{
  char path[64];
  sprintf(path, "%d.%s%d", call, role, i);
  return fopen(path, mode);
}}

static void *read_file(int call, int i, size_t bytes) {{
  void *data = malloc(bytes + 1);
  FILE *file = open_file(call, "in", i, "rb");
  if (data == NULL || file == NULL || fread(data, 1, bytes + 1, file) != bytes) exit(3);
  fclose(file);
  return data;
}}

/* Sizes that vary, and the number of elements. */
static size_t read_sizes(int call, int i, int rank, int32_t *sizes) {{
  FILE *file = open_file(call, "sizes", i, "rb");
  size_t count = 1;
  if (file == NULL || fread(sizes, 4, (size_t)rank, file) != (size_t)rank) exit(7);
  fclose(file);
  for (int d = 0; d < rank; ++d) count *= sizes[d] < 0 ? 0 : (size_t)sizes[d];
  return count;
}}

static size_t write_sizes(int call, int i, int rank, const int32_t *sizes) {{
  FILE *file = open_file(call, "shape", i, "wb");
  size_t count = 1;
  if (file == NULL || fwrite(sizes, 4, (size_t)rank, file) != (size_t)rank) exit(8);
  fclose(file);
  for (int d = 0; d < rank; ++d) count *= (size_t)sizes[d];
  return count;
}}

static void check_untouched(const unsigned char *data, size_t from, size_t to) {{
  for (size_t i = from; i < to; ++i) {{
    if (data[i] != 0x5a) exit(9);
  }}
}}

static void write_file(int call, int i, const void *data, size_t bytes) {{
  FILE *file = open_file(call, "out", i, "wb");
  if (file == NULL || fwrite(data, 1, bytes, file) != bytes) exit(4);
  fclose(file);
}}

int main(int argc, char **argv) {{
  struct {name}_context context;
  struct {name}_pools pools;
{memory}
  (void)read_sizes;
  (void)write_sizes;
  (void)check_untouched;
  if ({name}_init(&context, &pools) != 0) return 6;
  for (int i = 1; i < argc; ++i) {{
    int status = 100;
    if (strcmp(argv[i], "reset") == 0) status = {name}_reset_state(&context);
{calls}
    if (status != 0) return 128 + status;
  }}
{free}
  return 0;
}}
"""

MEMORY = """  pools.{member}_bytes = {bytes};
  pools.{member} = {cast}aligned_alloc({align}, {rounded});
  if (pools.{member} == NULL) return 5;
  memset(pools.{member}, 0xa5, {rounded});"""

CALL = """    if (strcmp(argv[i], "{method}") == 0 || strcmp(argv[i], "{method}!") == 0) {{
      struct {prefix}_inputs inputs;
      struct {prefix}_outputs outputs;
      size_t bytes = 0;
      (void)bytes;
{prepare}
      status = argv[i][strlen(argv[i]) - 1] == '!'
                   ? {prefix}_run_unchecked(&context, &inputs, &outputs)
                   : {prefix}_run(&context, &inputs, &outputs);
{finish}
    }}"""


def _call(method):
    prepare, finish = [], []
    for i, tensor in enumerate(method["inputs"]):
        name, rank = tensor["c_name"], len(tensor["shape"])
        count = tensor["bytes"]
        if "least_shape" in tensor:
            count = (f'read_sizes(i, {i}, {rank}, inputs.{name}_sizes) * '
                     f'sizeof inputs.{name}[0]')
        prepare.append(f'      inputs.{name} = read_file(i, {i}, {count});')
    for i, tensor in enumerate(method["outputs"]):
        name, rank, most = tensor["c_name"], len(tensor["shape"]), tensor["bytes"]
        prepare.append(f'      outputs.{name} = malloc({most} + 1);')
        count = most
        if "least_shape" in tensor:
            prepare.append(f'      memset(outputs.{name}, 0x5a, {most});')
            finish.append(f'      if (status == 0) {{\n        int32_t sizes[{rank} + 1];\n'
                          f'        {method["prefix"]}_output_{name}_sizes(&context, sizes);\n'
                          f'        bytes = write_sizes(i, {i}, {rank}, sizes) * '
                          f'sizeof outputs.{name}[0];\n      }}\n'
                          f'      check_untouched((unsigned char *)outputs.{name}, bytes, {most});')
            count = "bytes"
        finish.append(f'      write_file(i, {i}, outputs.{name}, {count});')
        finish.append(f'      free(outputs.{tensor["c_name"]});')
    for tensor in method["inputs"]:
        finish.append(f'      free((void *)(uintptr_t)inputs.{tensor["c_name"]});')
    return CALL.format(method=method["name"], prefix=method["prefix"],
                       prepare="\n".join(prepare), finish="\n".join(finish))


def generate(folder, name, methods, words=()):
    """Writes the package to folder/c; returns its manifest. Of planners the one that takes no
    seconds, unless `words` name another: none changes a bit, as digits_test and ComparedFolder
    show."""
    given = [w for method, model in methods for w in ("--method", f"{method}={model}")]
    planner = [] if any(str(w).startswith("--planner") for w in words) else QUICK_PLAN
    done([PETREL, "gen-c", *given, "-o", pathlib.Path(folder) / "c", "--name", name, *planner,
          *words], folder)
    return json.loads((pathlib.Path(folder) / "c/manifest.json").read_text())


class Package:
    """One generated package, compiled with `compiler` and the flags `more`. Its programs, an app
    around it and the self-test, are made when they are first run."""

    def __init__(self, folder, name, methods, words=(), compiler="gcc", more=()):
        self.folder = pathlib.Path(folder)
        self.name = name
        self.manifest = generate(folder, name, methods, words)
        self.compile(compiler, more)

    def compile(self, compiler="gcc", more=()):
        """What every app links: NAME.o, NAME_params.o and kernels of the user."""
        self.compiler, self.more, self.programs = compiler, more, set()
        code = (f"{self.name}.", f"{self.name}_params.", f"{self.name}_kernel_")
        self.objects = [self.compiled(source.name) for source in sorted((self.folder / "c").iterdir())
                        if source.suffix in (".c", ".S") and source.name.startswith(code)]

    def compiled(self, source):
        """The object of a source, such as NAME_metadata.c, beside those of compile()."""
        made = (self.folder / source).with_suffix(".o")
        self.compile_to(made, "-c", self.folder / "c" / source)
        return made

    def compile_to(self, made, *words):
        done([self.compiler, "-std=c99", *WARNINGS, *EXACT, *self.more, f"-I{self.folder / 'c'}",
              *words, "-o", made], self.folder)

    def program(self, name):
        """The path of "app" or "selftest"."""
        if name not in self.programs:
            self.link(name)
            self.programs.add(name)
        return self.folder / name

    def link(self, name):
        if name == "selftest":
            self.compile_to(name, f"-D{self.name.upper()}_SELFTEST_MAIN",
                            self.folder / "c" / f"{self.name}_selftest.c", *self.objects, "-lm")
            return
        (self.folder / "app.c").write_text(self.app())
        done([self.compiler, "-std=c11", *self.more, f"-I{self.folder / 'c'}", "app.c",
              *self.objects, "-lm", "-o", "app"], self.folder)

    def memories(self):
        """(member of the struct of pools, its type, bytes, alignment) of each."""
        pools = [p for p in self.manifest["pools"] if p["kind"] == "rw"]
        if pools:
            return [(p["name"], f"struct {self.name}_pool_{p['name']} *", p["bytes"], p["align"])
                    for p in pools]
        align, state = self.manifest["arena_align"], self.manifest["state_bytes"]
        rows = [("arena", "", self.manifest["arena_bytes"], align)]
        return rows + ([("state", "", state, align)] if state else [])

    def app(self):
        memory = "\n".join(
            MEMORY.format(member=member, cast=f"({cast})" if cast else "", bytes=size, align=align,
                          rounded=max((size + align - 1) // align * align, align))
            for member, cast, size, align in self.memories())
        free = "\n".join(f"  free(pools.{row[0]});" for row in self.memories())
        return APP.format(name=self.name, memory=memory, free=free,
                          calls="\n".join(_call(m) for m in self.manifest["methods"]))

    def selftest(self):
        done([self.program("selftest")], self.folder)

    def shape(self, call, i, tensor):
        """Of an output that was written."""
        if "least_shape" not in tensor:
            return tuple(tensor["shape"])
        data = (self.folder / f"{call}.shape{i}").read_bytes()
        return struct.unpack(f"<{len(data) // 4}i", data)

    def run(self, method, inputs):
        return self.calls([(method, inputs)])[0]

    def calls(self, calls):
        """The outputs of each (method, inputs), one after another in one process; elements in
        row-major order, whatever the dim order of the tensors is. ("reset", []) resets, and
        ("forward!", ...) runs without checks."""
        rows = {m["name"]: m for m in self.manifest["methods"]}
        rows.update({f"{name}!": row for name, row in rows.items()})
        rows["reset"] = {"inputs": [], "outputs": []}
        for n, (method, inputs) in enumerate(calls, 1):
            for i, (tensor, data) in enumerate(zip(rows[method]["inputs"], inputs, strict=True)):
                if "least_shape" in tensor:
                    shape = struct.pack(f"<{len(data.shape)}i", *data.shape)
                    (self.folder / f"{n}.sizes{i}").write_bytes(shape)
                    (self.folder / f"{n}.in{i}").write_bytes(data.data)
                    continue
                data = arrays.reordered(data, tensor["shape"], tensor["dim_order"])
                (self.folder / f"{n}.in{i}").write_bytes(data)
        done([self.program("app"), *(method for method, _ in calls)], self.folder)
        self.shapes = [[self.shape(n, i, tensor) for i, tensor in enumerate(rows[method]["outputs"])]
                       for n, (method, _) in enumerate(calls, 1)]
        return [[arrays.reordered((self.folder / f"{n}.out{i}").read_bytes(),
                                  self.shapes[n - 1][i], tensor["dim_order"], back=True)
                 for i, tensor in enumerate(rows[method]["outputs"])]
                for n, (method, _) in enumerate(calls, 1)]
