// SPDX-License-Identifier: Apache-2.0
//
// What the runtime's loaders say of files that `petrel data` is given, for code
// that speaks absl::Status. Errors name the file; the loaders' reasons are
// logged.
//
//   PETREL_ASSIGN_OR_RETURN(std::vector<DataEntry> entries,
//                           read_data_file("weights.ptd"));
#ifndef PETREL_EXTENSION_RELINK_DATA_INPUT_H_
#define PETREL_EXTENSION_RELINK_DATA_INPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/blob.h"
#include "exir/ir/type.h"

namespace petrel::extension {

struct DataEntry {
  std::string key;
  exir::Blob blob;         // in the mapped file
  uint64_t alignment = 1;  // what the place in the file is a multiple of
  std::optional<exir::TensorType> layout;
};

// The entries of a `.ptd` or `.safetensors` file, verified, by key.
absl::StatusOr<std::vector<DataEntry>> read_data_file(const std::string& path);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_RELINK_DATA_INPUT_H_
