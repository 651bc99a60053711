// SPDX-License-Identifier: Apache-2.0
//
// Memory in blocks of exactly the sizes asked for, so that a sanitizer sees the
// first byte beyond; and a data loader that hands out such copies, each filled anew.
//
//   ExactLoader loader(data, size);      // keeps no copy of its own
//   Block arena(64);                     // 64 zeros, aligned for any tensor
//
// `data` must outlive the loader, and the loader what it has loaded.

#ifndef PETREL_TEST_FUZZ_EXACT_MEMORY_H_
#define PETREL_TEST_FUZZ_EXACT_MEMORY_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/core/data_loader.h"
#include "runtime/core/memory_allocator.h"
#include "test/fuzz/oracle.h"

namespace petrel::fuzz {

inline uint8_t* allocate_exactly(size_t size, size_t alignment) {
  void* block = nullptr;
  require(posix_memalign(&block, alignment < sizeof(void*) ? sizeof(void*) : alignment, size) == 0,
          "no memory for the fuzzer itself");
  return static_cast<uint8_t*>(block);
}

class Block final {
 public:
  explicit Block(size_t size) : size_(size), data_(allocate_exactly(size, 16)) {
    std::memset(data_.get(), 0, size);
  }
  uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* block) const { std::free(block); }
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
  static void free_copy(void* loader, void* data, size_t) {
    --static_cast<ExactLoader*>(loader)->live_;
    std::free(data);
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
    blocks_.push_back(allocate_exactly(size, alignment));
    return blocks_.back();
  }
  void reset() override {
    for (uint8_t* block : blocks_) std::free(block);
    blocks_.clear();
    allocated_ = 0;
  }
  uint64_t allocated() const { return allocated_; }

 private:
  static constexpr uint64_t kMost = 256 << 20;
  std::vector<uint8_t*> blocks_;
  uint64_t allocated_ = 0;
};

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_EXACT_MEMORY_H_
