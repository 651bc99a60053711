// SPDX-License-Identifier: Apache-2.0
//
// ByteSource: a file or memory that loaders take bytes from, and where in memory
// those bytes lie. A backend that keeps what it made of a weight asks for the place
// of its bytes, and need not make it again from the same place:
//
//   const auto source = ByteSource::of_file(fd);      // a loader
//   source->announce(mapping, size, /*offset=*/0);
//
//   const auto place = ByteSource::find(weight, n);   // a backend
//   if (place) ... cache[{*place, n}] ...
//
// Equal places are equal bytes: a source has a number that no other gets, shared
// only with sources that live at the same time and are over the same memory, or over
// a file of the same device, inode, size and times. Of a file that was changed since
// it was opened, or within the last two seconds, nothing is told; a change is seen by the
// file's times, so who writes into the middle of a file through a mapping of his own
// hides it. What is withdrawn, or whose source is gone, is found no more.
//
// Thread-safe. It uses the heap and locks; --//runtime:sharing=none leaves both out, and then
// nothing is told of any bytes.

#ifndef PETREL_RUNTIME_BACKEND_BYTE_SOURCE_H_
#define PETREL_RUNTIME_BACKEND_BYTE_SOURCE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/core/byte_place.h"
#include "runtime/core/result.h"

namespace petrel::runtime {

class ByteSource final {
 public:
  using Place = BytePlace;

  // A regular file. The descriptor stays open as long as the source lives.
  static std::unique_ptr<ByteSource> of_file(int fd);
  // Bytes that stay and do not change as long as the source lives; announced at once.
  static std::unique_ptr<ByteSource> of_memory(const void* data, size_t size);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // `size` bytes from `offset` lie at `data` and do not change until withdrawn.
  void announce(const void* data, size_t size, uint64_t offset);
  void withdraw(const void* data);

  // Its bytes from `offset`; NotSupported where nothing is sure.
  Result<Place> place_at(uint64_t offset) const;
  // The same for whoever reads them through this source alone: also of a file that was
  // changed lately, but not since it was opened. No other source has these places.
  Result<Place> own_place_at(uint64_t offset) const;
  // A number that no source has, and that nobody gets again.
  static uint64_t new_number();
  // The place of `size` bytes at `data`; nullopt where nothing is sure.
  static std::optional<Place> find(const void* data, size_t size);

 private:
  // What tells sources apart: kind, then device, inode, size and times, or address
  // and size.
  using Identity = std::array<uint64_t, 8>;
  struct Registry;

  static Registry& registry();
  static bool read_file(int fd, Identity* identity);
  ByteSource(int fd, const Identity& identity);
  bool has_same_times() const;
  bool is_unchanged() const;

  const int fd_;  // -1 of memory
  const Identity identity_;
  uint64_t number_ = 0;
  uint64_t own_number_ = 0;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_BACKEND_BYTE_SOURCE_H_
