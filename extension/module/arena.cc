// SPDX-License-Identifier: Apache-2.0
#include "extension/module/arena.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/platform/pages.h"

namespace petrel::extension {

using runtime::Error;

Arena::~Arena() { std::free(memory_); }

Arena::Arena(Arena&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), span_(std::exchange(other.span_, {})) {}

Error Arena::allocate(size_t size) {
  size_t padded = 0;
  if (!runtime::checked_add(size, kAlignment, &padded)) return Error::MemoryAllocationFailed;
  memory_ = std::calloc(padded, 1);
  if (memory_ == nullptr) {
    PETREL_LOG(Error, "an arena of %zu bytes cannot be allocated", size);
    return Error::MemoryAllocationFailed;
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(memory_);
  const size_t shift = (kAlignment - address % kAlignment) % kAlignment;
  span_ = {static_cast<uint8_t*>(memory_) + shift, size};
  return Error::Ok;
}

void Arena::touch(size_t most) {
  // Where pages are larger, the system refuses and they come one by one.
  constexpr uintptr_t kPage = 4096;
  const auto start = reinterpret_cast<uintptr_t>(span_.data());
  const uintptr_t begin = (start + kPage - 1) / kPage * kPage;
  const uintptr_t end = (start + std::min(most, span_.size())) / kPage * kPage;
  if (begin < end) runtime::populate_pages(span_.data() + (begin - start), end - begin);
}

}  // namespace petrel::extension
