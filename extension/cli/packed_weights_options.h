// SPDX-License-Identifier: Apache-2.0
//
// --packed-weights and --verify-packed of the verbs that run programs: a file
// that keeps weights as XNNPACK's kernels read them, for the next process.
#ifndef PETREL_EXTENSION_CLI_PACKED_WEIGHTS_OPTIONS_H_
#define PETREL_EXTENSION_CLI_PACKED_WEIGHTS_OPTIONS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "runtime/backend/options.h"

namespace petrel::extension {

class PackedWeightsOptions {
 public:
  // This must outlive the verb.
  void add_to(CLI::App& verb);

  // Null when there is no file. InvalidArgument for a path that is too long.
  // Valid as long as this.
  absl::StatusOr<const runtime::LoadBackendOptionsMap*> make();

 private:
  std::string file_;
  std::string verify_ = "first";
  runtime::BackendOptions<2> options_;
  runtime::LoadBackendOptionsMap map_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_PACKED_WEIGHTS_OPTIONS_H_
