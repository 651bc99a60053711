// SPDX-License-Identifier: Apache-2.0
//
// Whether bytes are a flatbuffer of a schema: one walk over the schema's shape, where generated
// code has a function for each table. It asks what flatbuffers::Verifier asks, so it gives the
// same answer: offsets and vtables inside the buffer, numbers aligned, texts ended by a NUL, no
// more tables than the bytes have room for.
//
//   const TableCheck check = check_tables(bytes, schema::kAdditionsShape, "PTAD");
//
// In addition it counts the bytes of all parts, as often as they are referred to. Many tables may
// refer to one list, and whoever goes by way of the tables comes to it each time: a file of 2 MB
// could have 200,000 tables with one list of 200,000 texts. The walk ends where tables (of which
// the offsets count, not the numbers), lists and texts have more bytes than there are; a file in
// which nothing is referred to twice always has enough. So whoever reads a file that was checked
// goes through no more than its bytes, and may copy every part.

#ifndef PETREL_RUNTIME_PROGRAM_TABLE_VERIFIER_H_
#define PETREL_RUNTIME_PROGRAM_TABLE_VERIFIER_H_

#include <cstdint>

#include "runtime/core/span.h"
#include "schema/table_shape.h"

namespace petrel::runtime {

enum class TableCheck : uint8_t {
  Good,
  Damaged,
  TooManyParts,
};

// `bytes` must be fewer than 2^31.
TableCheck check_tables(Span<const uint8_t> bytes, const schema::SchemaShape& shape,
                        const char* identifier);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_TABLE_VERIFIER_H_
