// SPDX-License-Identifier: Apache-2.0
//
// Reads an archive written by torch.export.save (schema 8.x, raw payloads)
// into IR, without torch and without Python. The file is mapped; weights stay
// in the mapping until they are written out. The result is as the archive has
// it (in-place operators included); passes make it functional.
//
//   PETREL_ASSIGN_OR_RETURN(Method method, import_pt2("model.pt2", "forward"));
//
// Errors name the archive member and JSON path, or all unknown operators at
// once with their places in the user's model.
#ifndef PETREL_EXIR_IMPORT_IMPORT_H_
#define PETREL_EXIR_IMPORT_IMPORT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "exir/import/size_limits.h"
#include "exir/ir/program.h"

namespace petrel::exir {

// The schema of the archives that can be read; minor versions may differ.
inline constexpr int64_t kArchiveSchema = 8;

// Text facts of an archive, for `petrel inspect`.
struct ArchiveInfo {
  std::string torch_version;
  int schema_major = 0;
  int schema_minor = 0;
  std::string dialect;  // "TRAINING", "ATEN"
};

// The program called `method_name`, or the only one in the archive, whatever it
// is called. `out_info`, if given, is also set when a later step fails.
//
// Inputs are taken as contiguous, whatever their strides were at export.
// Checksums are verified for every member that is read.
absl::StatusOr<Method> import_pt2(const std::string& path, const std::string& method_name,
                                  const SizeLimits& limits = {}, ArchiveInfo* out_info = nullptr);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_IMPORT_H_
