// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/shared_reads.h"

#include <mutex>
#include <new>
#include <utility>

namespace petrel::extension {

using runtime::FreeableBuffer;

struct SharedReads::Memory {
  Range range;
  FreeableBuffer bytes;
  size_t users = 0;
  Memory* next = nullptr;
};

// A table of chains, without a library's: the core of the runtime has it.
struct SharedReads::Registry {
  static constexpr size_t kChains = 4096;

  // Where the pointer to the memory of a range is, or would be.
  Memory** find(const Range& range) {
    // Weights begin at multiples of 16, most of them of far more.
    const uint64_t offset = range.place.offset / 16;
    Memory** at = &chains[(offset ^ offset >> 8 ^ offset >> 16 ^ range.place.source) % kChains];
    while (*at != nullptr && !((*at)->range == range)) at = &(*at)->next;
    return at;
  }

  std::mutex mutex;
  Memory* chains[kChains] = {};
};

// Never destroyed: buffers may outlive static objects.
SharedReads::Registry& SharedReads::registry() {
  static Registry* const registry = new Registry;
  return *registry;
}

FreeableBuffer SharedReads::use(Memory* memory) {
  ++memory->users;
  return FreeableBuffer(memory->bytes.data(), memory->bytes.size(), &SharedReads::free, memory);
}

std::optional<FreeableBuffer> SharedReads::find(const Range& range) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Memory* const memory = *all.find(range);
  if (memory == nullptr) return std::nullopt;
  return use(memory);
}

FreeableBuffer SharedReads::share(const Range& range, FreeableBuffer&& read) {
  // Freed after the lock where the range is there already.
  FreeableBuffer own = std::move(read);
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Memory** const at = all.find(range);
  if (*at == nullptr) {
    Memory* const memory = new (std::nothrow) Memory;
    if (memory == nullptr) return own;
    memory->range = range;
    memory->bytes = std::move(own);
    *at = memory;
  }
  return use(*at);
}

void SharedReads::free(void* memory, void*, size_t) {
  Registry& all = registry();
  Memory* const freed = static_cast<Memory*>(memory);
  FreeableBuffer bytes;
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (--freed->users > 0) return;
  bytes = std::move(freed->bytes);
  *all.find(freed->range) = freed->next;
  delete freed;
}

}  // namespace petrel::extension
