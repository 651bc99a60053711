// SPDX-License-Identifier: Apache-2.0
//
// A record of how long the variants of kernels took on a board, node by node, and which was best.
// The same record makes the same C.
//
//   TuningRecord record;
//   record.key = tuning_key(board, options);
//   record.nodes = {{"forward", "conv", "convolution 1 x 8 x ...", "direct", "im2col-dot",
//                    {{"im2col-dot", 4100}, {"direct", 3900}}}};
//   out << tuning_text(record);
//   PETREL_RETURN_IF_ERROR(use_tuning(path, board, &options));   // options.kernels.tuned
//
// Invariant of what is read: it is as it was written, to the last byte that means something.
#ifndef PETREL_EXIR_DRIVER_TUNING_H_
#define PETREL_EXIR_DRIVER_TUNING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/board/board.h"
#include "exir/driver/generate.h"

namespace petrel::exir {

// What the figures hold for.
struct TuningKey {
  std::string board;      // its name
  std::string board_sha;  // of its file
  std::string clock;      // configuration of its clocks
  std::string placement;  // of weights and values
  std::string kernels;    // emit_c::variants_digest()
};

struct TunedNode {
  std::string method, node;
  std::string product;                                  // emit_c::product_text()
  std::string variant;                                  // the best
  std::string target_variant;                           // what the target takes
  std::vector<std::pair<std::string, uint64_t>> ticks;  // of each that was measured
};

struct TuningRecord {
  TuningKey key;
  int64_t hz = 0;             // of the ticks
  uint64_t target_ticks = 0;  // of all steps, with what the target takes
  uint64_t tuned_ticks = 0;   // with the best
  std::vector<TunedNode> nodes;
};

// Of a package with these options, those of the board included.
TuningKey tuning_key(const Board& board, const GenerateOptions& options);

std::string tuning_text(const TuningRecord& record);

// InvalidArgument for a record that is damaged or no record. Errors begin with `origin`.
absl::StatusOr<TuningRecord> parse_tuning(const std::string& text, const std::string& origin);

// Reads a record and has `options` take what it says; nodes are compared when they are known.
// FailedPrecondition for one that was measured under anything else, which is named.
absl::Status use_tuning(const std::string& path, const Board& board, GenerateOptions* options);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_TUNING_H_
