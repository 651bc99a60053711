// SPDX-License-Identifier: Apache-2.0
#include "extension/module/arena.h"

#include <cstdlib>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"

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

}  // namespace petrel::extension
