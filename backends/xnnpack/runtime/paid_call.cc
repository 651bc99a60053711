// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/paid_call.h"

#include <cstdlib>

#if defined(__APPLE__)
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

namespace petrel::backends::xnnpack {
namespace {

thread_local PaidCall* current = nullptr;

size_t size_of(void* block) {
  if (block == nullptr) return 0;
#if defined(__APPLE__)
  return malloc_size(block);
#else
  return malloc_usable_size(block);
#endif
}

bool may_take(size_t size) { return current == nullptr || current->take(size); }

// Blocks may be larger than what was asked for: a call is charged too little by a page for each
// that it frees.
void gave(void* block) {
  if (current != nullptr) current->give(size_of(block));
}

void* allocate(void*, size_t size) { return may_take(size) ? std::malloc(size) : nullptr; }

void deallocate(void*, void* block) {
  gave(block);
  std::free(block);
}

// Pages of a large block move: the old one does not count beside the new one.
void* reallocate(void*, void* block, size_t size) {
  gave(block);
  return may_take(size) ? std::realloc(block, size) : nullptr;
}

void* allocate_aligned(void*, size_t alignment, size_t size) {
  void* block = nullptr;
  if (!may_take(size) || posix_memalign(&block, alignment, size) != 0) return nullptr;
  return block;
}

}  // namespace

const xnn_allocator* paying_allocator() {
  static const xnn_allocator kAllocator = {nullptr,     &allocate,         &reallocate,
                                           &deallocate, &allocate_aligned, &deallocate};
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
