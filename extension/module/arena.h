// SPDX-License-Identifier: Apache-2.0
//
// Arena: zeroed memory with an address that suits vector instructions. Pages
// that nobody touches cost nothing. Owns the memory.
//
//   Arena arena;
//   PETREL_RETURN_IF_ERROR(arena.allocate(4096));
//   spans.push_back(arena.span());
#ifndef PETREL_EXTENSION_MODULE_ARENA_H_
#define PETREL_EXTENSION_MODULE_ARENA_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/error.h"
#include "runtime/core/span.h"

namespace petrel::extension {

class Arena {
 public:
  static constexpr size_t kAlignment = 64;

  Arena() = default;
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;

  // Once. MemoryAllocationFailed says in the log how much was asked for.
  runtime::Error allocate(size_t size);

  // Has the system give the pages of the first `most` bytes, at once: one by one, each when it is
  // first written, they take ten times as long. Contents stay.
  void touch(size_t most);

  runtime::Span<uint8_t> span() const { return span_; }
  bool contains(const void* address) const {
    const auto* byte = static_cast<const uint8_t*>(address);
    return byte >= span_.data() && byte < span_.data() + span_.size();
  }

 private:
  void* memory_ = nullptr;
  runtime::Span<uint8_t> span_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_ARENA_H_
