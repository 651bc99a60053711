// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/log.h"

#include <cstdarg>
#include <cstdio>

namespace petrel::runtime {
namespace {

#if PETREL_LOGGING
void write_to_stderr(void*, LogLevel level, const char* message) {
  if (level < LogLevel::Warning) return;
  std::fprintf(stderr, "petrel: %s: %s\n", level == LogLevel::Error ? "error" : "warning", message);
}
LogHook current_hook = {&write_to_stderr, nullptr};
#else
LogHook current_hook;
#endif

}  // namespace

LogHook set_log_hook(LogHook hook) {
  LogHook previous = current_hook;
  current_hook = hook;
  return previous;
}

namespace internal {

void log(LogLevel level, const char* format, ...) {
  if (current_hook.write == nullptr) return;
  char message[kMaxLogMessage];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  if (length < 0) return;
  // Text of a file may be part of a message: a terminal must not obey it.
  for (char* c = message; *c != '\0'; ++c) {
    if (static_cast<unsigned char>(*c) < 0x20 || *c == 0x7f) *c = '?';
  }
  current_hook.write(current_hook.context, level, message);
}

}  // namespace internal
}  // namespace petrel::runtime
