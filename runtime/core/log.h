// SPDX-License-Identifier: Apache-2.0
//
// Messages of the runtime. Every error is explained by one message, made where
// the error is noticed:
//
//   PETREL_LOG(Error, "value %zu: dim %zu is %d, must be in [0, 2^31)", ...);
//   return Error::InvalidProgram;
//
// Messages go to a hook. The first hook writes errors and warnings to standard
// error; an application sets its own:
//
//   set_log_hook({&my_sink, my_state});      // LogHook{} silences the runtime
//
// Built with --//runtime:messages=none, which defines PETREL_LOGGING as 0, PETREL_LOG and its
// texts leave no trace. A message is at most kMaxLogMessage bytes; longer ones are cut.

#ifndef PETREL_RUNTIME_CORE_LOG_H_
#define PETREL_RUNTIME_CORE_LOG_H_

#include <cstddef>

#ifndef PETREL_LOGGING
#define PETREL_LOGGING 1
#endif

namespace petrel::runtime {

// For what is found out for a message alone.
inline constexpr bool kHasMessages = PETREL_LOGGING != 0;

enum class LogLevel { Debug, Info, Warning, Error };

inline constexpr size_t kMaxLogMessage = 512;

// `message` ends with a NUL and lives until `write` returns. May be called by
// several threads at once.
struct LogHook {
  void (*write)(void* context, LogLevel level, const char* message) = nullptr;
  void* context = nullptr;
};

// Replaces the hook and returns the one before. Not to be called while another
// thread uses the runtime.
LogHook set_log_hook(LogHook hook);

namespace internal {
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...);
}

}  // namespace petrel::runtime

#if PETREL_LOGGING
#define PETREL_LOG(level, ...) \
  ::petrel::runtime::internal::log(::petrel::runtime::LogLevel::level, __VA_ARGS__)
#else
// The arguments stay checked and used, but are never evaluated.
#define PETREL_LOG(level, ...)                                                                    \
  do {                                                                                            \
    if (false) ::petrel::runtime::internal::log(::petrel::runtime::LogLevel::level, __VA_ARGS__); \
  } while (0)
#endif

#endif  // PETREL_RUNTIME_CORE_LOG_H_
