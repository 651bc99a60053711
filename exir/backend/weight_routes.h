// SPDX-License-Identifier: Apache-2.0
//
// Where the weights of a program go and what they are called: the options of an
// export that hold for kernels and for every backend. A plain value: the same
// routes always give the same answers.
//
//   WeightRoutes routes;
//   routes.default_file = "rest.ptd";                 // "" is the program
//   routes.rules = {{"encoder.*", "encoder.ptd"}, {"*lora*", "adapter.ptd"}};
//   routes.keys = WeightKeys::kName;
//   routes.file_for_kernel(weight);                   // "encoder.ptd"
//   routes.key_for_backend(weight, blob, "0231");     // "encoder.conv.weight#0231"
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
#include "exir/ir/blob.h"
#include "exir/ir/constant.h"

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

  // The rule for a constant, an index into `rules`. Literals have none.
  std::optional<size_t> rule_of(const Constant& source) const;

  // The file for a weight that a kernel reads; "" for the program, where
  // literals always stay.
  std::string file_for_kernel(const Constant& source) const;

  // The file for the first value of state: that of its rule, never the default. State
  // that starts as zeros, which take no bytes in a program, needs a rule of its own:
  // "*" leaves it there.
  std::string file_for_state(const Constant& state) const;

  // The file for what a backend made of `source`. Literals go where other data
  // does; under kName, where data files are to be exchanged, into the program.
  std::string file_for_backend(const Constant& source) const;

  // The key of `blob`, which a backend made of `source`; `form` tells how the
  // bytes differ from the source's, "" when they do not:
  //
  //   kContent  the SHA-256 of the bytes, in whatever file: programs exported
  //             apart share what is equal
  //   kName     "conv.weight@bn1#0231", the constant's name and the form; a
  //             literal, which has no name in the model, is called by content
  std::string key_for_backend(const Constant& source, const Blob& blob,
                              const std::string& form) const;
};

// Whether all bytes of the first value of state are 0: programs do not store it.
bool starts_as_zeros(const Constant& state);

// "encoder.conv.weight" of "encoder.conv.weight@bn1".
std::string source_name(const std::string& fqn);

// Whether `glob` matches all of `text`.
bool matches_glob(const std::string& glob, const std::string& text);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_WEIGHT_ROUTES_H_
