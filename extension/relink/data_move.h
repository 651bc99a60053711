// SPDX-License-Identifier: Apache-2.0
//
// Moves data between a program and data files. The program computes the same,
// bit for bit, wherever its data lies.
//
//   split   m.pte                ->  small.pte + m.ptd
//   merge   small.pte + m.ptd    ->  m.pte
//
// What can be moved: named data, which is what delegates share, and constants
// of kernels that have a name. What stays: literals, initial values of state,
// payloads, and what Petrel itself says of the program.
#ifndef PETREL_EXTENSION_RELINK_DATA_MOVE_H_
#define PETREL_EXTENSION_RELINK_DATA_MOVE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/core/limits.h"

namespace petrel::extension {

struct SplitOptions {
  std::string program;
  std::string output;      // the program without the data
  std::string data_file;   // the data
  std::string keys = "*";  // which of it
  runtime::Limits limits;  // of loading the program
};

struct DataMergeOptions {
  std::string program;
  std::vector<std::string> data_files;
  std::string output;
  runtime::Limits limits;  // of loading the program
};

struct MoveReport {
  size_t keys = 0;             // moved
  uint64_t bytes = 0;          // of them; what several keys share counts once
  uint64_t program_bytes = 0;  // sizes of the files
  uint64_t data_bytes = 0;
  // Keys that the new program needs, kernels and delegates, and that are in no file that
  // was given or written.
  std::vector<std::string> still_outside;
};

// InvalidArgument when no key matches, or one key has two meanings.
absl::StatusOr<MoveReport> split_data(const SplitOptions& options);

// InvalidArgument naming the key and both files where equal keys have other
// bytes, or the key whose layout is not what the program needs.
absl::StatusOr<MoveReport> merge_data(const DataMergeOptions& options);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_RELINK_DATA_MOVE_H_
