// SPDX-License-Identifier: Apache-2.0
//
// Of builds in which nothing is shared: of no bytes it is known where they are from.
#include "runtime/backend/byte_source.h"

#include <atomic>

namespace petrel::runtime {

ByteSource::ByteSource(int fd, const Identity& identity) : fd_(fd), identity_(identity) {}

ByteSource::~ByteSource() = default;

std::unique_ptr<ByteSource> ByteSource::of_file(int fd) {
  return std::unique_ptr<ByteSource>(new ByteSource(fd, {}));
}

std::unique_ptr<ByteSource> ByteSource::of_memory(const void*, size_t) { return of_file(-1); }

void ByteSource::announce(const void*, size_t, uint64_t) {}

void ByteSource::withdraw(const void*) {}

Result<ByteSource::Place> ByteSource::place_at(uint64_t) const { return Error::NotSupported; }

Result<ByteSource::Place> ByteSource::own_place_at(uint64_t) const { return Error::NotSupported; }

uint64_t ByteSource::new_number() {
  static std::atomic<uint64_t> last_number = 0;
  return ++last_number;
}

std::optional<ByteSource::Place> ByteSource::find(const void*, size_t) { return std::nullopt; }

}  // namespace petrel::runtime
