// SPDX-License-Identifier: Apache-2.0
//
// C names for the names of a model. What C does not take becomes an underscore, and words
// that C, C++ or their headers have taken get one behind; two names that become one are an
// error that tells the original names: silently renamed, nobody would find them.
//
//   Names inputs("input", Names::Use::kMember);
//   inputs.add("input:0")   "input_0"
//   inputs.add("xor")       "xor_"
//   inputs.add("input.0")   InvalidArgument: inputs 'input:0' and 'input.0' would both
//                           be called input_0
#ifndef PETREL_EXIR_EMIT_C_NAMES_H_
#define PETREL_EXIR_EMIT_C_NAMES_H_

#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace petrel::exir::emit_c {

// Letters, digits and single underscores, beginning with a letter.
std::string sanitized(absl::string_view name);

bool is_keyword(absl::string_view name);  // of C or C++
// A keyword, or a macro or type of the headers that an app includes.
bool is_taken(absl::string_view name);

class Names {
 public:
  enum class Use {
    kSymbol,  // behind a prefix
    kMacro,   // behind a prefix, and in capitals
    kMember,  // of a struct by itself, and behind a prefix in capitals
  };

  // `what` they are names of, for messages.
  Names(std::string what, Use use) : what_(std::move(what)), use_(use) {}

  absl::StatusOr<std::string> add(const std::string& name);
  // The same for a name that was added: "add_1" of "add", or the next number that is free.
  std::string add_again(const std::string& name);

 private:
  std::string in_use(const std::string& c_name) const;

  std::string what_;
  Use use_;
  std::map<std::string, std::string> originals_;  // by C name, in capitals where those are used
};

// The name that the user gives a package: it begins every name of its files.
absl::Status check_package_name(const std::string& name);

// What a header declares and defines beside its guard is there once each: names that are made of
// several, as of a method and its input, can meet. `file` is for the message.
absl::Status check_declared_once(absl::string_view header, absl::string_view file);

// "KWS" for "kws".
std::string in_capitals(absl::string_view name);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_NAMES_H_
