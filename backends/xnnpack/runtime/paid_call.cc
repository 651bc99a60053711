// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/paid_call.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "runtime/platform/aligned_memory.h"
#include "runtime/platform/heap_size.h"

namespace petrel::backends::xnnpack {
namespace {

thread_local PaidCall* current = nullptr;

// XNNPACK asks for 16 to 128, each a power of two: all are at a multiple of the largest.
constexpr size_t kAlignment = 128;

bool may_take(size_t size) { return current == nullptr || current->take(size); }

// Blocks may be larger than what was asked for: a call is charged too little by a page for each
// that it frees.
void gave(size_t bytes) {
  if (current != nullptr) current->give(bytes);
}

void* allocate(void*, size_t size) { return may_take(size) ? std::malloc(size) : nullptr; }

void deallocate(void*, void* block) {
  if (block != nullptr) gave(runtime::heap_size(block));
  std::free(block);
}

// Pages of a large block move: the old one does not count beside the new one.
void* reallocate(void*, void* block, size_t size) {
  if (block != nullptr) gave(runtime::heap_size(block));
  return may_take(size) ? std::realloc(block, size) : nullptr;
}

void* allocate_aligned(void*, size_t alignment, size_t size) {
  if (alignment > kAlignment || size > SIZE_MAX - kAlignment || !may_take(size)) return nullptr;
  const size_t padded = (std::max(size, size_t{1}) + kAlignment - 1) / kAlignment * kAlignment;
  return runtime::allocate_aligned(kAlignment, padded);
}

void deallocate_aligned(void*, void* memory) {
  if (memory == nullptr) return;
  gave(runtime::aligned_heap_size(memory, kAlignment));
  runtime::free_aligned(memory);
}

}  // namespace

const xnn_allocator* paying_allocator() {
  static const xnn_allocator kAllocator = {nullptr,     &allocate,         &reallocate,
                                           &deallocate, &allocate_aligned, &deallocate_aligned};
  return &kAllocator;
}

PaidCall::PaidCall(uint64_t counted, runtime::Budget* memory) : paid_(counted), memory_(memory) {
  current = this;
}

PaidCall::~PaidCall() { current = nullptr; }

bool PaidCall::take(uint64_t bytes) {
  const uint64_t all = runtime::saturating_sum(taken_, bytes);
  if (memory_ != nullptr && all > paid_) {
    if (memory_->take("what XNNPACK allocates for a payload", all - paid_) != runtime::Error::Ok) {
      was_refused_ = true;
      return false;
    }
    paid_ = all;
  }
  taken_ = all;
  return true;
}

}  // namespace petrel::backends::xnnpack
