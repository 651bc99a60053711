// SPDX-License-Identifier: Apache-2.0
//
// Options of the verbs that run programs which XNNPACK takes when a program is loaded:
// --packed-weights and --verify-packed, a file that keeps weights as its kernels read
// them, for the next process, and --huge-pages, in which memory; --winograd, --math and --tiles,
// how products are computed.
#ifndef PETREL_EXTENSION_CLI_DELEGATE_OPTIONS_H_
#define PETREL_EXTENSION_CLI_DELEGATE_OPTIONS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/backend/options.h"

namespace petrel::extension {

class DelegateOptions {
 public:
  // This must outlive the verb.
  void add_to(CLI::App& verb);

  // Null when there are none. InvalidArgument for a path that is too long.
  // Valid as long as this.
  absl::StatusOr<const runtime::LoadBackendOptionsMap*> make();

 private:
  absl::Status set_path(const char* flag, const char* option, const std::string& path);

  std::string file_;
  std::string verify_ = "first";
  std::string winograd_ = "on";
  std::string math_ = "exact";
  std::string huge_pages_ = "auto";
  std::string tiles_;
  runtime::BackendOptions<6> options_;
  runtime::LoadBackendOptionsMap map_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_DELEGATE_OPTIONS_H_
