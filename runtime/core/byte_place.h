// SPDX-License-Identifier: Apache-2.0
//
// BytePlace: where bytes come from, known without reading them. Equal places are equal
// bytes, as many as both have:
//
//   place {3, 4096}   the bytes from offset 4096 of source 3, one file or one memory
//
//   Result<BytePlace> place = map.find_place("fc.weight", 400);
//   if (place.ok()) ... what was made of the same place need not be made again ...
//
// A source has a number that no other gets; runtime/backend/byte_source.h gives them. Built with
// --//runtime:sharing=none, which defines PETREL_SHARING as 0, nobody asks: of no bytes it is known
// where they come from.

#ifndef PETREL_RUNTIME_CORE_BYTE_PLACE_H_
#define PETREL_RUNTIME_CORE_BYTE_PLACE_H_

#include <cstdint>

#ifndef PETREL_SHARING
#define PETREL_SHARING 1
#endif

namespace petrel::runtime {

// For what is there to know places alone.
inline constexpr bool kKnowsPlaces = PETREL_SHARING != 0;

struct BytePlace {
  uint64_t source = 0;  // never 0 of a source
  uint64_t offset = 0;

  bool operator<(const BytePlace& other) const {
    return source != other.source ? source < other.source : offset < other.offset;
  }
  bool operator==(const BytePlace& other) const {
    return source == other.source && offset == other.offset;
  }
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_BYTE_PLACE_H_
