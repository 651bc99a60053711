// SPDX-License-Identifier: Apache-2.0
//
// The memory that the packed weights of one delegate lie in: zeros straight
// from the system, handed out from front to back.
//
//   | region 0 | region 1 | region 2 |  never touched, so not paid for   |
//
// Large arenas have huge pages where they cost nothing to get (huge_pages_are_cheap()): a run
// reads all weights once, and with small pages the processor looks up where they are for 4 KB
// at a time. Where an idle virtual machine has given them back to its host, getting them again
// takes longer than the packing.
//
//   std::shared_ptr<PackedArena> arena = PackedArena::make(bytes_of_filters);
//   void* data = arena->allocate(size);     // zeros; null without memory
//   arena->give_back(data, size);           // only what was allocated last
//   PackedArena::drop(data, size);          // nobody reads it any more
//
// Addresses stay until the arena goes: regions hold it. Memory that was dropped goes
// back to the system page by page, as when a delegate over other data keeps some of the
// regions. Used by one thread at a time until the last allocation, but for drop();
// reading what was written is up to the owner.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_ARENA_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace petrel::backends::xnnpack {

enum class HugePages { kWhereCheap, kAlways, kNever };

class PackedArena {
 public:
  // At least what XNNPACK wants on any processor, and what it may read past the
  // end of an array.
  static constexpr size_t kAlignment = 128;
  static constexpr size_t kSlack = 128;

  // `expected` is about what will be allocated in all; a guess costs nothing.
  static std::shared_ptr<PackedArena> make(size_t expected,
                                           HugePages huge_pages = HugePages::kWhereCheap);
  ~PackedArena();
  PackedArena(const PackedArena&) = delete;
  PackedArena& operator=(const PackedArena&) = delete;

  void* allocate(size_t size);
  // Precondition: `data` was the last allocation, of `size` bytes.
  void give_back(void* data, size_t size);

  // Precondition: allocated, and never used again.
  static void drop(void* data, size_t size);

 private:
  struct Chunk {
    uint8_t* data;
    size_t size;
    size_t used;
  };

  PackedArena(size_t expected, HugePages huge_pages)
      : expected_(expected), huge_pages_(huge_pages) {}
  bool add_chunk(size_t size);

  size_t expected_;
  const HugePages huge_pages_;
  std::vector<Chunk> chunks_;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_ARENA_H_
