// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/console.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/module/error_text.h"
#include "runtime/core/log.h"

namespace petrel::extension {

int fail(absl::string_view verb, absl::string_view message) {
  Progress::stop_current();
  const std::string text =
      absl::StrReplaceAll(shown({message.data(), message.size()}), {{"\n", "\n  "}});
  std::fprintf(stderr, "petrel %.*s: %s\n", static_cast<int>(verb.size()), verb.data(),
               text.c_str());
  return kFailed;
}

int fail(absl::string_view verb, const absl::Status& status) {
  return fail(verb, absl::string_view(status.message().data(), status.message().size()));
}

RuntimeMessages::RuntimeMessages(absl::string_view verb) : verb_(verb) {
  runtime::set_log_hook({[](void* context, runtime::LogLevel level, const char* message) {
                           if (level < runtime::LogLevel::Warning) return;
                           auto* const self = static_cast<RuntimeMessages*>(context);
                           const std::lock_guard<std::mutex> lock(self->mutex_);
                           self->messages_.push_back(message);
                           if (level == runtime::LogLevel::Warning) {
                             self->warnings_.push_back(message);
                           }
                         },
                         this});
}

RuntimeMessages::~RuntimeMessages() {
  runtime::set_log_hook(runtime::LogHook{});
  if (verb_.empty() || has_failed_) return;
  for (const std::string& warning : warnings_) {
    std::fprintf(stderr, "petrel %s: warning: %s\n", verb_.c_str(), shown(warning).c_str());
  }
}

int RuntimeMessages::fail(absl::string_view verb, absl::string_view subject,
                          runtime::Error error) const {
  has_failed_ = true;
  std::string text = this->text();
  if (!text.empty()) text += '\n';
  absl::StrAppend(&text, subject, ": ", runtime::to_string(error));
  return extension::fail(verb, text);
}

int RuntimeMessages::fail(absl::string_view verb, const absl::Status& status) const {
  has_failed_ = true;
  std::string text = this->text();
  if (!text.empty()) text += '\n';
  absl::StrAppend(&text, status.message());
  return extension::fail(verb, text);
}

std::string RuntimeMessages::text() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return absl::StrJoin(messages_, "\n");
}

}  // namespace petrel::extension
