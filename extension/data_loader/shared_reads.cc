// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/shared_reads.h"

#include <mutex>
#include <new>
#include <utility>

#include "runtime/platform/process_mutex.h"

namespace petrel::extension {

using runtime::FreeableBuffer;

struct SharedReads::Memory {
  Range range;
  FreeableBuffer bytes;
  size_t users = 0;
  Memory* next = nullptr;
};

// A table of chains, without a library's: the core of the runtime has it. Ranges come from files,
// which may name many that begin or end at one place: all of a range tells its chain, and none
// can be chosen for it, as each process has another table.
struct SharedReads::Registry {
  static constexpr size_t kFirstChains = 4096;

  Memory** chain_of(const Range& range) {
    uint64_t hash = reinterpret_cast<uintptr_t>(this);
    for (const uint64_t number :
         {range.place.source, range.place.offset, static_cast<uint64_t>(range.size)}) {
      hash = (hash ^ number) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    }
    return &chains[hash & (num_chains - 1)];
  }

  // Where the pointer to the memory of a range is, or would be.
  Memory** find(const Range& range) {
    Memory** at = chain_of(range);
    while (*at != nullptr && !((*at)->range == range)) at = &(*at)->next;
    return at;
  }

  void add(Memory* memory) {
    if (++count > num_chains) grow();
    Memory** const at = chain_of(memory->range);
    memory->next = *at;
    *at = memory;
  }

  void remove(const Memory* memory) {
    *find(memory->range) = memory->next;
    --count;
  }

  // Twice as many chains, where there is memory for them.
  void grow() {
    Memory** const more = new (std::nothrow) Memory* [2 * num_chains] {};
    if (more == nullptr) return;
    Memory** const old = std::exchange(chains, more);
    const size_t num_old = std::exchange(num_chains, 2 * num_chains);
    for (size_t i = 0; i < num_old; ++i) {
      for (Memory* memory = old[i]; memory != nullptr;) {
        Memory* const moved = std::exchange(memory, memory->next);
        Memory** const at = chain_of(moved->range);
        moved->next = *at;
        *at = moved;
      }
    }
    if (old != first) delete[] old;
  }

  runtime::ProcessMutex mutex;
  Memory* first[kFirstChains] = {};
  Memory** chains = first;
  size_t num_chains = kFirstChains;  // a power of two
  size_t count = 0;                  // of memories
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
  const std::lock_guard<runtime::ProcessMutex> lock(all.mutex);
  Memory* const memory = *all.find(range);
  if (memory == nullptr) return std::nullopt;
  return use(memory);
}

FreeableBuffer SharedReads::share(const Range& range, FreeableBuffer&& read) {
  // Freed after the lock where the range is there already.
  FreeableBuffer own = std::move(read);
  Registry& all = registry();
  const std::lock_guard<runtime::ProcessMutex> lock(all.mutex);
  if (Memory* const known = *all.find(range)) return use(known);
  Memory* const memory = new (std::nothrow) Memory;
  if (memory == nullptr) return own;
  memory->range = range;
  memory->bytes = std::move(own);
  all.add(memory);
  return use(memory);
}

void SharedReads::free(void* memory, void*, size_t) {
  Registry& all = registry();
  Memory* const freed = static_cast<Memory*>(memory);
  FreeableBuffer bytes;
  const std::lock_guard<runtime::ProcessMutex> lock(all.mutex);
  if (--freed->users > 0) return;
  bytes = std::move(freed->bytes);
  all.remove(freed);
  delete freed;
}

}  // namespace petrel::extension
