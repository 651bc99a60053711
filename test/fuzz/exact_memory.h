// SPDX-License-Identifier: Apache-2.0
//
// Memory in blocks of exactly the sizes asked for, so that a sanitizer sees the
// first byte beyond; and a data loader that hands out such copies, each filled anew.
//
//   ExactLoader loader(data, size);      // keeps no copy of its own
//   Block arena(64);                     // 64 zeros, aligned for any tensor
//
// `data` must outlive the loader, and the loader what it has loaded. One thread at a
// time: the blocks of an input lie one behind the other in memory that the next input
// uses again, apart and out of bounds for AddressSanitizer until then, which is cheaper
// than blocks of its allocator.

#ifndef PETREL_TEST_FUZZ_EXACT_MEMORY_H_
#define PETREL_TEST_FUZZ_EXACT_MEMORY_H_

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/core/data_loader.h"
#include "runtime/core/memory_allocator.h"
#include "test/fuzz/oracle.h"

namespace petrel::fuzz {

class ExactMemory final {
 public:
  static ExactMemory& instance() {
    static ExactMemory* const memory = new ExactMemory;
    return *memory;
  }

  uint8_t* take(size_t size, size_t alignment) {
    // As far as a reader may miss its mark, as the sanitizer does.
    const size_t gap = 32 + std::min<size_t>(size / 8, 1024);
    alignment = std::max(alignment, kGranule);
    const size_t start = (end_ + gap + alignment - 1) / alignment * alignment;
    if (alignment > kPage || size > kBytes || start > kBytes - size) {
      return allocate(size, alignment);
    }
    end_ = start + size;
    blocks_.push_back({bytes_ + start, true});
    ++live_;
    ASAN_UNPOISON_MEMORY_REGION(bytes_ + start, size);
    // What nobody has written is the same for every input.
    std::memset(bytes_ + start, 0xbe, std::min<size_t>(size, 4096));
    return bytes_ + start;
  }

  void give_back(uint8_t* block, size_t size) {
    if (block < bytes_ || block > bytes_ + kBytes) return std::free(block);
    const auto found =
        std::lower_bound(blocks_.begin(), blocks_.end(), block,
                         [](const Taken& a, const uint8_t* start) { return a.start < start; });
    require(found != blocks_.end() && found->start == block && std::exchange(found->live, false),
            "memory is given back once, as it was taken");
    ASAN_POISON_MEMORY_REGION(block, size);
    if (--live_ > 0) return;
    end_ = 0;
    blocks_.clear();
  }

 private:
  struct Taken {
    uint8_t* start;
    bool live;
  };

  // What the sanitizer marks as in or out of bounds begins at its multiples.
  static constexpr size_t kGranule = 8;
  static constexpr size_t kBytes = 16 << 20;
  static constexpr size_t kPage = 4096;

  ExactMemory() : bytes_(allocate(kBytes, kPage)) { ASAN_POISON_MEMORY_REGION(bytes_, kBytes); }

  static uint8_t* allocate(size_t size, size_t alignment) {
    void* block = nullptr;
    require(posix_memalign(&block, std::max(alignment, sizeof(void*)), size) == 0,
            "no memory for the fuzzer itself");
    return static_cast<uint8_t*>(block);
  }

  uint8_t* const bytes_;
  size_t end_ = 0;
  size_t live_ = 0;
  std::vector<Taken> blocks_;
};

inline uint8_t* allocate_exactly(size_t size, size_t alignment) {
  return ExactMemory::instance().take(size, alignment);
}
inline void free_exactly(void* block, size_t size) {
  ExactMemory::instance().give_back(static_cast<uint8_t*>(block), size);
}

class Block final {
 public:
  explicit Block(size_t size) : size_(size), data_(allocate_exactly(size, 16), Free{size}) {
    std::memset(data_.get(), 0, size);
  }
  uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* block) const { free_exactly(block, size); }
    size_t size;
  };
  size_t size_;
  std::unique_ptr<uint8_t, Free> data_;
};

class ExactLoader final : public runtime::DataLoader {
 public:
  ExactLoader(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  ~ExactLoader() override { require(live_ == 0, "a buffer of the loader was never freed"); }

  runtime::Result<runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                const SegmentInfo&) const override {
    if (offset > size_ || size > size_ - offset) return runtime::Error::InvalidArgument;
    uint8_t* const copy = allocate_exactly(size, 16);
    if (size != 0) std::memcpy(copy, data_ + offset, size);
    ++live_;
    return runtime::FreeableBuffer(copy, size, &free_copy, const_cast<ExactLoader*>(this));
  }
  runtime::Error load_into(size_t offset, size_t size, const SegmentInfo&,
                           void* buffer) const override {
    if (offset > size_ || size > size_ - offset) return runtime::Error::InvalidArgument;
    if (size != 0) std::memcpy(buffer, data_ + offset, size);
    return runtime::Error::Ok;
  }
  runtime::Result<size_t> size() const override { return size_; }

 private:
  static void free_copy(void* loader, void* data, size_t size) {
    --static_cast<ExactLoader*>(loader)->live_;
    free_exactly(data, size);
  }

  const uint8_t* data_;
  size_t size_;
  mutable int64_t live_ = 0;
};

// Counts what it hands out.
class ExactAllocator final : public runtime::MemoryAllocator {
 public:
  ExactAllocator() : MemoryAllocator(0, nullptr) {}
  ~ExactAllocator() override { reset(); }

  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    allocated_ += size;
    // What nobody may ask for on behalf of a small file.
    if (allocated_ > kMost) return nullptr;
    blocks_.emplace_back(allocate_exactly(size, alignment), size);
    return blocks_.back().first;
  }
  void reset() override {
    for (const auto& [block, size] : blocks_) free_exactly(block, size);
    blocks_.clear();
    allocated_ = 0;
  }
  uint64_t allocated() const { return allocated_; }

 private:
  static constexpr uint64_t kMost = 256 << 20;
  std::vector<std::pair<uint8_t*, size_t>> blocks_;
  uint64_t allocated_ = 0;
};

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_EXACT_MEMORY_H_
