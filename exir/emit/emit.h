// SPDX-License-Identifier: Apache-2.0
//
// Writes a lowered, planned Program as `.pte` bytes and its external data as
// `.ptd` files. The layout is that of schema/program.md and
// schema/flat_data.md. Segments are streamed from their Blobs: nothing but the
// FlatBuffer part is ever held in memory. Equal programs give equal bytes.
//
//   [ header | flatbuffer | constants | payloads | named data ]
#ifndef PETREL_EXIR_EMIT_EMIT_H_
#define PETREL_EXIR_EMIT_EMIT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/backend/named_blob_store.h"
#include "exir/ir/program.h"

namespace petrel::exir {

// Receives the bytes of a file in order.
using ByteSink = std::function<absl::Status(absl::Span<const uint8_t>)>;

struct EmitOptions {
  // When not empty, constants that kernels use go to this destination of the
  // store, keyed by FQN, instead of the constant segment.
  std::string external_weights;
  uint64_t segment_alignment = 128;
  uint64_t constant_alignment = 16;
};

struct MethodMemory {
  std::string method;
  std::vector<int64_t> arena_bytes;  // per arena
  int64_t lower_bound_bytes = 0;     // of arena 0
  bool proven_optimal = false;
};

struct EmitReport {
  std::vector<MethodMemory> memory;
  std::map<std::string, uint64_t> file_bytes;  // by destination, "" the program
};

// Plans memory and writes the program. `store` already holds what backends
// added; kernel constants sent outside are added to it. `open_sink` is asked
// once per destination ("" for the program).
absl::StatusOr<EmitReport> emit_program(
    const Program& program, NamedBlobStore& store, const EmitOptions& options,
    const std::function<absl::StatusOr<ByteSink>(const std::string&)>&
        open_sink);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_EMIT_H_
