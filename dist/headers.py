# SPDX-License-Identifier: Apache-2.0
"""The headers of the SDK: those that apps include, and what these include.

    headers.of_sdk(root)                    {"petrel/runtime/core/error.h": bytes, ...}
    headers.of_sdk(root, headers.COMPILER)  the same with those of the compiler

They lie and include one another under the prefix petrel/, which they do not have in the
tree. Nothing of another library is among what they include, but for the compiler's:
these include Abseil's.
"""

import pathlib
import re
from typing import Dict, List, Sequence, Set

# What apps and backends include, by path in the tree.
ENTRY = (
    "backends/xnnpack/runtime/xnnpack_delegate.h",
    "extension/c_api/petrel.h",
    "extension/data_loader/buffer_data_loader.h",
    "extension/data_loader/file_data_loader.h",
    "extension/data_loader/file_descriptor_data_loader.h",
    "extension/data_loader/mmap_data_loader.h",
    "extension/flat_data/flat_data_map.h",
    "extension/levels/levels.h",
    "extension/module/heap_allocator.h",
    "extension/module/module.h",
    "extension/named_data_map/linked_data_map.h",
    "extension/named_data_map/merged_data_map.h",
    "extension/named_data_map/safetensors_map.h",
    "extension/porting/executorch.h",
    "extension/porting/macros.h",
    "extension/tensor/filled.h",
    "extension/tensor/tensor_ptr.h",
    "runtime/backend/data_cache.h",
    "runtime/backend/interface.h",
    "runtime/backend/known_options.h",
    "runtime/core/log.h",
    "runtime/executor/program.h",
    "runtime/executor/registry.h",
    "runtime/kernel/kernel.h",
    "runtime/kernel/kernel_args.h",
    "runtime/kernel/kernel_runtime_context.h",
    "runtime/kernels/optimized/kernel_list.inc",
    "runtime/kernels/portable/kernel_list.inc",
    "runtime/platform/fast_sha256.h",
    "runtime/platform/isa_level.h",
    "runtime/selection/selection.h",
    "runtime/threads/thread_count.h",
)

# What the compiler's half of a backend includes, its tests, and what tells the conformance
# suite of it.
COMPILER = ENTRY + (
    "backends/xnnpack/aot/partitioner.h",
    "backends/xnnpack/aot/xnnpack_backend.h",
    "exir/annotate.h",
    "exir/backend/backend.h",
    "exir/backend/routed_blob_store.h",
    "exir/driver/export.h",
    "exir/ir/disjoint_sets.h",
    "exir/ir/graph.h",
    "exir/ir/region_values.h",
    "exir/ir/text.h",
    "exir/ops/handles.h",
    "exir/ops/table.h",
    "exir/partition/partition.h",
    "exir/status_macros.h",
    "extension/cli/linked_backends.h",
    "test/conformance/fixture.h",
)

# Of the library that the SDK brings for them.
_ABSEIL = "absl/"

# The one that has another path in the SDK: C has no folders of rooms.
RENAMED = {"extension/c_api/petrel.h": "petrel/petrel.h"}

_INCLUDE = re.compile(r'^(\s*#\s*include\s*)"([^"]+)"', re.M)
_OF_THE_SYSTEM = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)

# Beside the standard library of C++, whose headers have no ending.
_SYSTEM_HEADERS = {"stddef.h", "stdint.h", "string.h", "sys/types.h"}


def closure(root: pathlib.Path, entry: Sequence[str] = ENTRY) -> List[str]:
    """The headers by their paths in the tree."""
    found: Set[str] = set()
    open_ends = list(entry)
    while open_ends:
        path = open_ends.pop()
        if path in found:
            continue
        found.add(path)
        text = (root / path).read_text(encoding="utf-8")
        open_ends += [included for _, included in _INCLUDE.findall(text)
                      if entry is not COMPILER or not included.startswith(_ABSEIL)]
        for header in _OF_THE_SYSTEM.findall(text):
            if "." in header and header not in _SYSTEM_HEADERS:
                raise SystemExit(f"dist: {path} includes <{header}>, which users may not have")
    return sorted(found)


def place(path: str) -> str:
    """Where a header of the tree lies in the SDK's include folder."""
    if path.startswith(_ABSEIL):
        return path
    return RENAMED.get(path, f"petrel/{path}")


def of_sdk(root: pathlib.Path, entry: Sequence[str] = ENTRY) -> Dict[str, bytes]:
    """The headers as they are in the SDK, by path under its include folder."""
    placed = {}
    for path in closure(root, entry):
        text = (root / path).read_text(encoding="utf-8")
        text = _INCLUDE.sub(lambda found: f'{found[1]}"{place(found[2])}"', text)
        placed[place(path)] = text.encode()
    return placed
