// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/spare_memory.h"

#include <mutex>

#include "runtime/platform/pages.h"
#include "runtime/platform/process_mutex.h"

namespace petrel::extension {

// Small on purpose: the core of the runtime has it.
struct SpareMemory::Blocks {
  struct Block {
    void* memory;
    size_t size;
  };
  static constexpr size_t kMost = 8;

  // All after `index` move up.
  Block remove(size_t index) {
    const Block removed = all[index];
    bytes -= removed.size;
    --count;
    for (size_t i = index; i < count; ++i) all[i] = all[i + 1];
    return removed;
  }

  void drop_oldest() {
    const Block oldest = remove(0);
    runtime::give_back_pages(oldest.memory, oldest.size);
  }

  runtime::ProcessMutex mutex;
  Block all[kMost + 1];  // the oldest first, one more while one is added
  size_t count = 0;
  size_t bytes = 0;
};

// Never destroyed: buffers may outlive static objects.
SpareMemory::Blocks& SpareMemory::blocks() {
  static Blocks* const blocks = new Blocks;
  return *blocks;
}

void* SpareMemory::take(size_t size) {
  {
    Blocks& spare = blocks();
    const std::lock_guard<runtime::ProcessMutex> lock(spare.mutex);
    for (size_t i = 0; i < spare.count; ++i) {
      if (spare.all[i].size == size) return spare.remove(i).memory;
    }
  }
  return runtime::take_pages(size);
}

void SpareMemory::give_back(void* memory, size_t size) {
  if (size > kMostBytes) {
    runtime::give_back_pages(memory, size);
    return;
  }
  Blocks& spare = blocks();
  const std::lock_guard<runtime::ProcessMutex> lock(spare.mutex);
  spare.all[spare.count++] = {memory, size};
  spare.bytes += size;
  while (spare.bytes > kMostBytes || spare.count > Blocks::kMost) spare.drop_oldest();
}

void SpareMemory::clear() {
  Blocks& spare = blocks();
  const std::lock_guard<runtime::ProcessMutex> lock(spare.mutex);
  while (spare.count > 0) spare.drop_oldest();
}

}  // namespace petrel::extension
