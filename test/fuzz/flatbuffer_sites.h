// SPDX-License-Identifier: Apache-2.0
//
// Where a FlatBuffer keeps what: every number, offset, length and entry of a vtable
// that can be reached from its root, found with the schema. The buffer may be damaged;
// what does not lie inside of it is left out.
//
//   const Schema schema = program_schema();           // flatc's binary form
//   for (const Site& site : find_sites(schema, data, size)) ...

#ifndef PETREL_TEST_FUZZ_FLATBUFFER_SITES_H_
#define PETREL_TEST_FUZZ_FLATBUFFER_SITES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flatbuffers/reflection_generated.h"

namespace petrel::fuzz {

struct Site {
  enum class Kind : uint8_t {
    kNumber,  // a scalar field, or an element of a vector of them
    kUnion,   // the byte that says which table a union is
    kOffset,  // of a table, vector or string from here on
    kLength,  // of a vector or string
    kField,   // an entry of a vtable: where a field lies in its table
  };
  Kind kind;
  uint8_t width;
  size_t position;
  // What an offset leads to; offsets with equal tags may be exchanged.
  const void* tag;
};

// The first ones of a buffer with very many.
std::vector<Site> find_sites(const reflection::Schema& schema, const uint8_t* data, size_t size);

// Of an input: what its buffer is and where it begins.
struct Layout {
  const reflection::Schema& schema;
  size_t start;
  // Of another buffer behind that one, if its identifier is there.
  const reflection::Schema* inner = nullptr;
};

// Of all its buffers; positions count from the start of the first.
std::vector<Site> find_sites(const Layout& layout, const uint8_t* data, size_t size);

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_FLATBUFFER_SITES_H_
