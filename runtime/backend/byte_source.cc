// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/byte_source.h"

#include <ctime>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/platform/file.h"
#include "runtime/platform/process_mutex.h"

namespace petrel::runtime {
namespace {

constexpr uint64_t kFile = 1;
constexpr uint64_t kMemory = 2;
// Unknown: of a file whose state cannot be told.
constexpr uint64_t kNothing = 0;

uintptr_t address_of(const void* data) { return reinterpret_cast<uintptr_t>(data); }

// Two changes within a tick of the file system's clock leave the same times behind.
bool is_settled(uint64_t changed_seconds) {
  const std::time_t now = std::time(nullptr);
  return now > 0 && changed_seconds + 1 < static_cast<uint64_t>(now);
}

}  // namespace

struct ByteSource::Registry {
  struct Range {
    size_t size;
    uint64_t offset;
  };
  struct Number {
    uint64_t number;
    size_t sources;
  };

  ProcessMutex mutex;
  uint64_t last_number = 0;
  std::map<Identity, Number> numbers;                               // of sources that live
  std::map<std::pair<uintptr_t, const ByteSource*>, Range> ranges;  // by address
};

// Never destroyed: loaders may outlive static objects.
ByteSource::Registry& ByteSource::registry() {
  static Registry* const registry = new Registry;
  return *registry;
}

bool ByteSource::read_file(int fd, Identity* identity) {
  FileState state;
  if (!read_state(fd, &state)) return false;
  *identity = {kFile,
               state.device,
               state.number,
               state.size,
               state.modified_ns,
               state.changed_seconds,
               state.changed_ns,
               0};
  return true;
}

ByteSource::ByteSource(int fd, const Identity& identity) : fd_(fd), identity_(identity) {
  Registry& all = registry();
  const std::lock_guard<ProcessMutex> lock(all.mutex);
  Registry::Number& number =
      all.numbers.try_emplace(identity, Registry::Number{0, 0}).first->second;
  if (number.sources++ == 0) number.number = ++all.last_number;
  number_ = number.number;
  own_number_ = ++all.last_number;
}

uint64_t ByteSource::new_number() {
  Registry& all = registry();
  const std::lock_guard<ProcessMutex> lock(all.mutex);
  return ++all.last_number;
}

std::unique_ptr<ByteSource> ByteSource::of_file(int fd) {
  Identity identity = {kNothing};
  read_file(fd, &identity);
  return std::unique_ptr<ByteSource>(new ByteSource(fd, identity));
}

std::unique_ptr<ByteSource> ByteSource::of_memory(const void* data, size_t size) {
  const Identity identity = {kMemory, address_of(data), size};
  std::unique_ptr<ByteSource> source(new ByteSource(-1, identity));
  source->announce(data, size, 0);
  return source;
}

ByteSource::~ByteSource() {
  Registry& all = registry();
  const std::lock_guard<ProcessMutex> lock(all.mutex);
  for (auto range = all.ranges.begin(); range != all.ranges.end();) {
    range = range->first.second == this ? all.ranges.erase(range) : std::next(range);
  }
  const auto number = all.numbers.find(identity_);
  if (--number->second.sources == 0) all.numbers.erase(number);
}

void ByteSource::announce(const void* data, size_t size, uint64_t offset) {
  Registry& all = registry();
  const std::lock_guard<ProcessMutex> lock(all.mutex);
  all.ranges[{address_of(data), this}] = {size, offset};
}

void ByteSource::withdraw(const void* data) {
  Registry& all = registry();
  const std::lock_guard<ProcessMutex> lock(all.mutex);
  all.ranges.erase({address_of(data), this});
}

bool ByteSource::has_same_times() const {
  if (identity_[0] == kMemory) return true;
  Identity now;
  return identity_[0] == kFile && read_file(fd_, &now) && now == identity_;
}

bool ByteSource::is_unchanged() const {
  if (identity_[0] == kMemory) return true;
  return identity_[0] == kFile && is_settled(identity_[5]) && has_same_times();
}

Result<ByteSource::Place> ByteSource::place_at(uint64_t offset) const {
  if (!is_unchanged()) return Error::NotSupported;
  return Place{number_, offset};
}

Result<ByteSource::Place> ByteSource::own_place_at(uint64_t offset) const {
  if (!has_same_times()) return Error::NotSupported;
  return Place{own_number_, offset};
}

std::optional<ByteSource::Place> ByteSource::find(const void* data, size_t size) {
  Registry& all = registry();
  const std::lock_guard<ProcessMutex> lock(all.mutex);
  const uintptr_t address = address_of(data);
  // The last range that begins at or before the address.
  auto range = all.ranges.upper_bound({address + 1, nullptr});
  if (range == all.ranges.begin()) return std::nullopt;
  --range;
  const auto& [begin, source] = range->first;
  const size_t from = address - begin;
  if (from > range->second.size || size > range->second.size - from) return std::nullopt;
  if (!source->is_unchanged()) return std::nullopt;
  return Place{source->number_, range->second.offset + from};
}

}  // namespace petrel::runtime
