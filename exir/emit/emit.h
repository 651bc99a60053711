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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/backend/routed_blob_store.h"
#include "exir/emit/file_layout.h"
#include "exir/emit/missing_kernels.h"
#include "exir/ir/program.h"
#include "exir/ir/shared_work.h"
#include "exir/memory/planned_program.h"
#include "exir/plan/search/planner.h"

namespace petrel::exir {

struct EmitOptions {
  // When not empty, this external file is written even if nothing goes there.
  // Which weights go outside the store knows; literals never do.
  std::string external_weights;
  // No external file is larger; 0 is no limit.
  uint64_t shard_bytes = 0;
  // Remember the digests of external data.
  bool bind_data = false;
  // So many compute them, this one included, while that data is written. Bytes do not depend on it.
  size_t threads = work_threads();
  // Under WeightKeys::kName the program remembers these and its weights.
  std::vector<std::string> recipe;
  Sha256 structure = {};
  // Powers of two in [16, 2^20].
  uint64_t segment_alignment = 128;
  uint64_t constant_alignment = 16;
  plan::Options planning;  // of emit_program()
  // Which kernels there are to run the program; not set: all of them.
  HasKernelFn has_kernel;
  // Write programs all the same that call others.
  bool allow_missing_kernels = false;
};

struct MethodMemory {
  std::string method;
  std::vector<int64_t> arena_bytes;  // per arena, without the reserved one
  int64_t lower_bound_bytes = 0;     // of arena 0
  bool proven_optimal = false;
  // Joins and cuts that run no instruction, and the bytes that stay where they
  // are.
  size_t elided_copies = 0;
  int64_t elided_bytes = 0;
  // Temporary memory of kernels, all of them together, and what of it has no
  // place in the arena.
  size_t scratch_operators = 0;
  int64_t scratch_bytes = 0;
  int64_t scratch_bytes_beyond = 0;
  // The plan of arena 0, for pictures; no buffers when nothing is planned.
  plan::Problem problem;
  plan::Solution solution;
};

struct EmitReport {
  std::vector<MethodMemory> memory;
  // The arena that the methods of a program share for state; 0 when there is
  // one method, whose state lies in its own arena.
  int64_t state_bytes = 0;
  std::map<std::string, uint64_t> file_bytes;  // by destination, "" the program
  // Kernel calls per method: "aten::add.out" -> count.
  std::map<std::string, std::map<std::string, size_t>> kernels;
  std::vector<MissingKernel> missing_kernels;
  // Constants and named data: bytes written, and bytes that were asked for
  // again and not written again.
  uint64_t weight_bytes = 0;
  uint64_t shared_weight_bytes = 0;
};

// Asked once per destination.
using OpenSinkFn = std::function<absl::StatusOr<ByteSink>(const std::string& destination)>;

// Memory for a program whose weights go where `routes` say; Unimplemented names
// all nodes that no kernel executes. `shortages` as of plan_program().
absl::StatusOr<PlannedProgram> plan_to_emit(const Program& program, const WeightRoutes& routes,
                                            const plan::Options& options,
                                            const MemoryPools& pools = MemoryPools(),
                                            std::vector<std::string>* shortages = nullptr);

// Writes the program. `store` already holds what backends added; kernel constants
// sent outside are added to it. `open_sink` is asked for the program ("") last,
// which may have the digests of other files in it, and each file is complete before the next is
// asked for. Nothing is written when the program cannot be: Unimplemented names all kernels that
// are missing.
absl::StatusOr<EmitReport> emit_planned(const PlannedProgram& planned, RoutedBlobStore& store,
                                        const EmitOptions& options, const OpenSinkFn& open_sink);

// Both: plans with options.planning, and writes.
absl::StatusOr<EmitReport> emit_program(const Program& program, RoutedBlobStore& store,
                                        const EmitOptions& options, const OpenSinkFn& open_sink);

// The bytes of `program` with everything inside, for running it right away.
// Memory is planned without a search. `store` has what backends stored, all for the
// program itself.
absl::StatusOr<std::string> emit_to_memory(const Program& program,
                                           RoutedBlobStore store = RoutedBlobStore());

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_EMIT_H_
