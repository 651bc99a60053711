// SPDX-License-Identifier: Apache-2.0
//
// Upper bounds that a user gives to varying sizes of which an archive says none, as with Dim.AUTO.
// Memory is planned for them, and calls with larger sizes are refused.
//
//   PETREL_ASSIGN_OR_RETURN(const SizeLimits limits, SizeLimits::read({"s77=512", "*=64"}));
//   limits.find("s77");    // 512
//   limits.find("s33");    // 64
//   ...                    // after all methods
//   PETREL_RETURN_IF_ERROR(limits.check());    // each was of use
#ifndef PETREL_EXIR_IMPORT_SIZE_LIMITS_H_
#define PETREL_EXIR_IMPORT_SIZE_LIMITS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace petrel::exir {

class SizeLimits {
 public:
  SizeLimits() = default;

  // Of words NAME=N, where torch calls the size so, and *=N for all others.
  static absl::StatusOr<SizeLimits> read(const std::vector<std::string>& words);

  // For a program that is read to be shown, and planned for nothing: all sizes get a bound that
  // says nothing of them.
  static SizeLimits of_none();
  bool is_of_none() const { return is_of_none_; }

  // For a size without an upper bound, which is at least `least`.
  std::optional<int64_t> find(const std::string& symbol, int64_t least = 0) const;
  // The sizes that were looked for.
  const std::set<std::string>& asked() const { return asked_; }

  // InvalidArgument for a limit that was never found, with the sizes that were asked for.
  absl::Status check() const;

 private:
  bool is_of_none_ = false;
  std::map<std::string, int64_t> largest_;  // by symbol, or `*`
  mutable std::set<std::string> unused_;    // keys of it
  mutable std::set<std::string> asked_;     // symbols
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_SIZE_LIMITS_H_
