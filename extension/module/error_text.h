// SPDX-License-Identifier: Apache-2.0
//
// ErrorText: what the runtime said on this thread while a call was made, so that
// an interface with error codes can tell the reason, too.
//
//   ErrorText text;                        // collects from here
//   const Error error = module->execute(...);
//   if (error != Error::Ok) show(text.text());
//
// The first object takes over the log hook of the process (runtime/core/log.h)
// for good; messages go on to what set_log_sink() was given. Objects may be
// nested on a thread; the innermost collects. At most kMaxText bytes are kept.
// Allocates nothing.
#ifndef PETREL_EXTENSION_MODULE_ERROR_TEXT_H_
#define PETREL_EXTENSION_MODULE_ERROR_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace petrel::extension {

class ErrorText {
 public:
  static constexpr size_t kMaxText = 2048;

  ErrorText();
  ~ErrorText();
  ErrorText(const ErrorText&) = delete;
  ErrorText& operator=(const ErrorText&) = delete;

  // Errors, one per line, in the order they were logged; "" if there were none.
  const char* text() const { return text_; }
  // As a message of the runtime; a line of its own.
  void add(const char* message);

 private:
  char text_[kMaxText] = "";
  size_t size_ = 0;
  ErrorText* outer_;
};

// Where messages go besides; a sink without function drops them. `level` is a
// runtime::LogLevel.
struct LogSink {
  void (*write)(void* context, int32_t level, const char* message) = nullptr;
  void* context = nullptr;
};
void set_log_sink(LogSink sink);

// A text as a terminal may have it: bytes that it would obey are written as \xNN, but for
// ends of lines and tabs.
std::string printable(std::string_view text);

// The same of a message, without what is beyond kMaxShown bytes. Messages quote texts of
// files, which may be as long as the file.
inline constexpr size_t kMaxShown = 16384;
std::string shown(std::string_view message);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_ERROR_TEXT_H_
