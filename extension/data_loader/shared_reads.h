// SPDX-License-Identifier: Apache-2.0
//
// SharedReads: what was read from files into memory and is still there. Who reads the
// same bytes of the same file again gets the same memory:
//
//   module 1 --- FileDataLoader ---.
//                                   >--- bytes of base.ptd, once      freed with the
//   module 2 --- FileDataLoader ---'                                  last buffer
//
//   if (std::optional<FreeableBuffer> buffer = SharedReads::find({place, size})) ...
//   FreeableBuffer buffer = SharedReads::share({place, size}, std::move(read));
//
// So a program that names a weight thousands of times has it in memory once. Nobody may
// write to shared memory. Thread-safe. Two threads may read the same bytes at
// the same time; one of the two copies then goes at once.
#ifndef PETREL_EXTENSION_DATA_LOADER_SHARED_READS_H_
#define PETREL_EXTENSION_DATA_LOADER_SHARED_READS_H_

#include <cstddef>
#include <optional>

#include "runtime/core/byte_place.h"
#include "runtime/core/data_loader.h"
#include "runtime/core/freeable_buffer.h"

namespace petrel::extension {

class SharedReads final {
 public:
  struct Range {
    runtime::BytePlace place;
    size_t size = 0;  // not 0

    bool operator==(const Range& other) const { return place == other.place && size == other.size; }
  };

  // Whether memory for these bytes may be shared, and is worth it: structures are private,
  // states are copied, and payloads are gone once they were read.
  static bool may_share(size_t size, const runtime::DataLoader::SegmentInfo& info) {
    using Type = runtime::DataLoader::SegmentInfo::Type;
    constexpr size_t kSmallest = 512;
    return runtime::kKnowsPlaces && size >= kSmallest &&
           (info.segment_type == Type::External || info.segment_type == Type::Constant);
  }

  // A buffer over memory that holds the range; nullopt if none does.
  static std::optional<runtime::FreeableBuffer> find(const Range& range);

  // A buffer over `read`, which holds the range, or over memory that does so already.
  static runtime::FreeableBuffer share(const Range& range, runtime::FreeableBuffer&& read);

 private:
  struct Memory;
  struct Registry;

  static Registry& registry();
  static runtime::FreeableBuffer use(Memory* memory);
  static void free(void* memory, void* data, size_t size);
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DATA_LOADER_SHARED_READS_H_
