# SPDX-License-Identifier: Apache-2.0
"""The code in the opening comments of the headers that apps include compiles.

A block of code is indented below the text of a comment. Each compiles in a function that
knows the names of its context, with `...` in place of what a reader adds.
"""

import os
import pathlib
import re
import subprocess
import unittest

import headers

HERE = pathlib.Path.cwd()
FOLDER = pathlib.Path(os.environ["TEST_TMPDIR"])

# What each header's code refers to.
CONTEXT = {
    "extension/c_api/petrel.h": "int64_t sizes[4] = {1, 1, 8, 8}; float pixels[64];",
    "extension/data_loader/buffer_data_loader.h": "std::vector<uint8_t> bytes;",
    "extension/data_loader/file_data_loader.h": "",
    "extension/data_loader/file_descriptor_data_loader.h":
        "int fd = 0; uint64_t asset_offset = 0, asset_length = 0;",
    "extension/data_loader/mmap_data_loader.h": "",
    "extension/flat_data/flat_data_map.h":
        "const Program* program = nullptr; MemoryManager memory(nullptr);",
    "extension/module/module.h":
        "std::vector<float> pixels(64); TensorPtr prompt, token, position;",
    "extension/named_data_map/linked_data_map.h":
        "static const uint8_t encoder_bias[4] = {};",
    "extension/named_data_map/merged_data_map.h":
        "std::vector<NamedDataMap*> given(2); NamedDataMap &base = *given[0], &adapter = *given[1];"
        " MergeOptions options;",
    "extension/named_data_map/safetensors_map.h":
        "const Program* program = nullptr; MemoryManager memory(nullptr); Module::Options options;",
    "extension/porting/device.h": "float* pixels = nullptr;",
    "extension/porting/executorch.h": "",
    "extension/porting/filled.h": "",
    "extension/porting/macros.h":
        "std::unique_ptr<DataLoader> given; DataLoader& loader = *given; const char* path = \"\";",
    "extension/porting/tensor_ptr_maker.h": "float* pixels = nullptr;",
    "extension/porting/tensors.h": "float* pixels = nullptr;",
    "extension/tensor/filled.h": "",
    "extension/tensor/tensor_ptr.h":
        "std::vector<float> pixels; float* camera_buffer = nullptr; std::unique_ptr<Module> module;",
    "runtime/backend/known_options.h": "",
    "runtime/core/error.h": "Method* method = nullptr;",
    "runtime/core/evalue.h": "std::vector<EValue> outputs;",
    "runtime/core/freeable_buffer.h": "const void* data = nullptr; size_t size = 0;"
        " void* loader = nullptr;"
        " auto read = [](const void*, size_t) {};",
    "runtime/core/memory_allocator.h": "",
    "runtime/core/span.h": "",
    "runtime/core/tensor.h": "Method* method = nullptr;",
    "runtime/executor/method_meta.h": "const Program* program = nullptr;"
        " std::vector<void*> arenas; auto allocate = [](size_t) -> void* { return nullptr; };",
    "runtime/executor/program.h": "MemoryManager memory_manager(nullptr);"
        " float data[4]; int32_t sizes[1] = {4}; TensorImpl input(ScalarType::Float, 1, sizes, data);",
    "runtime/platform/fast_sha256.h":
        "const uint8_t* data = nullptr; size_t size = 0; uint8_t digest[32];",
    "runtime/platform/isa_level.h": "",
    "runtime/platform/sha256.h": "const uint8_t *data = nullptr, *head = nullptr, *rest = nullptr;"
        " size_t size = 0, head_size = 0, rest_size = 0;",
    "runtime/threads/thread_count.h": "",
}

# Code at the level of a file, or in another one's words; diagrams and lists.
ELSEWHERE = {
    "backends/xnnpack/runtime/xnnpack_delegate.h", "extension/levels/levels.h",
    "extension/module/heap_allocator.h", "extension/porting/module.h", "extension/porting/names.h",
    "runtime/backend/data_cache.h", "runtime/backend/interface.h", "runtime/core/log.h",
    "runtime/executor/registry.h", "runtime/kernel/kernel.h", "runtime/kernel/kernel_args.h",
    "runtime/kernel/kernel_runtime_context.h", "runtime/selection/selection.h",
}

# A line that is no code: a picture of a file, of memory or of values.
PICTURE = re.compile(r"^(file |resident|\[ |values:|\s*\^|\s*'|sizes \[|\s+dim_order)")

# What all examples include: parsed once.
COMMON = """#include <cstdio>
#include <memory>
#include <vector>
#include "extension/module/module.h"
#include "extension/porting/executorch.h"
#include "extension/tensor/filled.h"
"""
PROGRAM = """#include "common.h"
#include "{header}"
{headers}
using namespace petrel::runtime;
using namespace petrel::extension;
void unmap(void*, void*, size_t);
template <typename... T> void use(const T&...) {{}}
struct Asked {{ Span<const BackendOption> runtime_specs() const {{ return {{}}; }} }} context;
{outside}
Error example() {{
  {context}
  {code}
  return Error::Ok;
}}
"""


def code_of(path):
    """The code in the opening comment of a header."""
    lines, is_list = [], False
    for line in (HERE / path).read_text().splitlines():
        if line and not line.startswith("//"):
            break
        indented = re.match(r"//   (.*)$", line)
        is_list = bool(indented) and (is_list or indented[1].startswith("- "))
        if indented and not is_list and not PICTURE.match(indented[1]):
            lines.append(indented[1])
    return re.sub(r"\) \.\.\.(?=$|  )", ") {}", "\n".join(lines), flags=re.M)


class CommentsTest(unittest.TestCase):

    def test_all_headers_of_apps_are_here(self):
        with_code = {path for path in headers.ENTRY if code_of(path).strip()}
        self.assertEqual(with_code - set(CONTEXT) - ELSEWHERE, set())

    def compiles(self, *words):
        return subprocess.run(["g++", "-std=c++17", "-w", f"-I{HERE}", *words],
                              stderr=subprocess.PIPE, text=True, check=False)

    def test_code_compiles(self):
        (FOLDER / "common.h").write_text(COMMON)
        self.assertEqual(self.compiles("-x", "c++-header", FOLDER / "common.h").returncode, 0)
        for path, context in CONTEXT.items():
            with self.subTest(path):
                self.compile(path, context)

    def compile(self, path, context):
        code = code_of(path)
        self.assertTrue(code.strip(), path)
        # Declarations of functions, and namespaces, are outside of functions.
        outside = "\n".join(re.findall(r"^(?:namespace \w+ = .*|extern .*);$", code, re.M))
        code = re.sub(r"^(?:namespace \w+ = .*|extern .*);$", "", code, flags=re.M)
        extra = {"extension/porting/macros.h": '#include "extension/porting/macros.h"'}
        if path.startswith("extension/porting/") and path not in extra:
            extra[path] = ("#include <cstdlib>\nusing namespace petrel::porting::aten;\n"
                           "using namespace petrel::porting::extension;")
        source = FOLDER / "example.cc"
        program = PROGRAM
        if path == "extension/c_api/petrel.h":  # an example of a main()
            program = program.replace("Error example", "int example").replace("Error::Ok", "0")
        source.write_text(program.format(header=path, headers=extra.get(path, ""), outside=outside,
                                         context=context, code=code))
        done = self.compiles("-fsyntax-only", source)
        self.assertEqual(done.returncode, 0, f"{code}\n{done.stderr[:3000]}")


if __name__ == "__main__":
    unittest.main()
