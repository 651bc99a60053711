// SPDX-License-Identifier: Apache-2.0
//
// Where the weights of a program go and what they are called: the options of an
// export that hold for kernels and for every backend.
//
//   WeightRoutes routes;
//   routes.default_file = "rest.ptd";                 // "" is the program
//   routes.rules = {{"encoder.*", "encoder.ptd"}, {"*lora*", "adapter.ptd"}};
//   routes.keys = WeightKeys::kName;
//
// A rule matches the fully qualified name of a parameter or buffer as the model
// has it; the first that matches counts. What passes made of a weight goes
// where the weight goes: names say so in front of an '@'.
//
//   "encoder.conv.weight"        a parameter
//   "encoder.conv.weight@bn1"    it, with batch norm `bn1` folded in
#ifndef PETREL_EXIR_BACKEND_WEIGHT_ROUTES_H_
#define PETREL_EXIR_BACKEND_WEIGHT_ROUTES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace petrel::exir {

// What weights are called in the data that backends share.
enum class WeightKeys {
  kContent,  // the SHA-256 of the bytes: equal weights are one
  kName,     // the name in the model: another file can take their place
};

struct WeightRule {
  std::string glob;  // `*` any text, `?` one character, `[ab]` one of them
  std::string file;  // a plain file name
};

struct WeightRoutes {
  std::string default_file;
  std::vector<WeightRule> rules;
  WeightKeys keys = WeightKeys::kContent;

  // InvalidArgument for an empty glob or a file name that is not plain.
  absl::Status check() const;
  // The rule for a weight.
  std::optional<size_t> rule_of(const std::string& fqn) const;
};

// "encoder.conv.weight" of "encoder.conv.weight@bn1".
std::string source_name(const std::string& fqn);

// Whether `glob` matches all of `text`.
bool matches_glob(const std::string& glob, const std::string& text);

// InvalidArgument unless `name` is a plain file name: not empty, "." or "..",
// at most 255 bytes, without '/', '\\' or NUL.
absl::Status check_plain_file_name(const std::string& name);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_WEIGHT_ROUTES_H_
