// SPDX-License-Identifier: Apache-2.0
//
// What the verbs say: results on standard output, errors on standard error with
// the most specific line first.
//
//   petrel run: value 17: dim 2 is -4, must be in [0, 2^31)
//     model.pte: InvalidProgram
#ifndef PETREL_EXTENSION_CLI_CONSOLE_H_
#define PETREL_EXTENSION_CLI_CONSOLE_H_

#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "extension/export/quantity.h"
#include "runtime/core/error.h"

namespace petrel::extension {

// Prints "petrel VERB: message" and returns kFailed. Further lines of the
// message are indented.
int fail(absl::string_view verb, absl::string_view message);
int fail(absl::string_view verb, const absl::Status& status);

// Collects what the runtime logs on any thread while it lives, so that an Error can be told
// with its reason. One at a time. With a verb it tells warnings at its end, where nothing
// failed: it is to outlive the modules, whose end may warn, too.
class RuntimeMessages {
 public:
  explicit RuntimeMessages(absl::string_view verb = "");
  ~RuntimeMessages();
  RuntimeMessages(const RuntimeMessages&) = delete;
  RuntimeMessages& operator=(const RuntimeMessages&) = delete;

  // Prints the messages, then `subject` and the error's name; returns kFailed.
  int fail(absl::string_view verb, absl::string_view subject, runtime::Error error) const;
  // The same for a failure that names its subject.
  int fail(absl::string_view verb, const absl::Status& status) const;
  // The messages, a line each.
  std::string text() const;

 private:
  const std::string verb_;
  mutable std::mutex mutex_;  // of the two lists
  std::vector<std::string> messages_;
  std::vector<std::string> warnings_;
  mutable bool has_failed_ = false;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_CONSOLE_H_
