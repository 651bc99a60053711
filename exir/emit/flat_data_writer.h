// SPDX-License-Identifier: Apache-2.0
//
// Writes one external destination of a NamedBlobStore as a `.ptd` file: one
// segment per buffer, in the order of the store, one table row per key, in the
// order of keys.
#ifndef PETREL_EXIR_EMIT_FLAT_DATA_WRITER_H_
#define PETREL_EXIR_EMIT_FLAT_DATA_WRITER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "exir/backend/named_blob_store.h"
#include "exir/emit/file_layout.h"

namespace petrel::exir {

// Returns the size of the file.
absl::StatusOr<uint64_t> write_flat_data(const NamedBlobStore::Destination& data,
                                         uint64_t segment_alignment, const ByteSink& sink);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_FLAT_DATA_WRITER_H_
