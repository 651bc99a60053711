// SPDX-License-Identifier: Apache-2.0
//
// The macros that ExecuTorch's apps use, for apps that are being ported:
//
//   Result<Program> loaded = Program::load(&loader);
//   ET_CHECK_OK_OR_RETURN_ERROR(loaded.error(), "cannot load %s", path);
//   auto meta = ET_UNWRAP(loaded->method_meta("forward"));
//   ET_LOG(Info, "%zu inputs", meta.num_inputs());
//   ET_CHECK_MSG(meta.num_inputs() == 1, "one input is expected");
//
// Messages go to Petrel's log. ET_CHECK ends the process, as its name says there; code
// of one's own has no use for it. ET_UNWRAP needs expressions with statements, which
// gcc and clang have.
#ifndef PETREL_EXTENSION_PORTING_MACROS_H_
#define PETREL_EXTENSION_PORTING_MACROS_H_

#include <cinttypes>  // apps print errors by PRIx32 and find it there
#include <cstdlib>
#include <utility>

#include "runtime/core/log.h"
#include "runtime/core/result.h"

#define ET_NODISCARD [[nodiscard]]
#define ET_UNUSED [[maybe_unused]]
#define ET_DEPRECATED [[deprecated]]
#define ET_EXPERIMENTAL [[deprecated("it may change")]]
#define ET_FALLTHROUGH [[fallthrough]]
#define ET_NORETURN [[noreturn]]
#define ET_INLINE __attribute__((always_inline)) inline
#define ET_NOINLINE __attribute__((noinline))
#define ET_RESTRICT __restrict__
#define ET_LIKELY(condition) (condition)
#define ET_UNLIKELY(condition) (condition)
#define ET_PRIsize_t "zu"
#define ET_PRIssize_t "zd"

// Debug, Info, Error and Fatal, which is an error.
#define PETREL_PORTING_LOG_Debug(...) PETREL_LOG(Debug, __VA_ARGS__)
#define PETREL_PORTING_LOG_Info(...) PETREL_LOG(Info, __VA_ARGS__)
#define PETREL_PORTING_LOG_Error(...) PETREL_LOG(Error, __VA_ARGS__)
#define PETREL_PORTING_LOG_Fatal(...) PETREL_LOG(Error, __VA_ARGS__)
#define ET_LOG(level, ...) PETREL_PORTING_LOG_##level(__VA_ARGS__)

#define ET_CHECK_MSG(condition, ...)  \
  do {                                \
    if (!(condition)) {               \
      PETREL_LOG(Error, __VA_ARGS__); \
      std::abort();                   \
    }                                 \
  } while (false)
#define ET_CHECK(condition) ET_CHECK_MSG(condition, "%s does not hold", #condition)

// As ET_CHECK, but not in builds with -DNDEBUG.
#ifdef NDEBUG
#define ET_DCHECK_MSG(condition, ...) ((void)0)
#define ET_DCHECK(condition) ((void)0)
#else
#define ET_DCHECK_MSG(condition, ...) ET_CHECK_MSG(condition, __VA_ARGS__)
#define ET_DCHECK(condition) ET_CHECK(condition)
#endif
#define ET_ASSERT_UNREACHABLE_MSG(...) \
  do {                                 \
    PETREL_LOG(Error, __VA_ARGS__);    \
    std::abort();                      \
  } while (false)
#define ET_ASSERT_UNREACHABLE() ET_ASSERT_UNREACHABLE_MSG("a place that is not to be reached")
#define ET_UNREACHABLE() __builtin_unreachable()

#define ET_CHECK_OR_RETURN_FALSE(condition, ...) \
  do {                                           \
    if (!(condition)) {                          \
      PETREL_LOG(Error, __VA_ARGS__);            \
      return false;                              \
    }                                            \
  } while (false)

#define ET_CHECK_OR_RETURN_ERROR(condition, error, ...) \
  do {                                                  \
    if (!(condition)) {                                 \
      PETREL_LOG(Error, __VA_ARGS__);                   \
      return ::petrel::runtime::Error::error;           \
    }                                                   \
  } while (false)

#define ET_CHECK_OK_OR_RETURN_ERROR(error, ...)             \
  do {                                                      \
    const ::petrel::runtime::Error petrel_error_ = (error); \
    if (petrel_error_ != ::petrel::runtime::Error::Ok) {    \
      ::petrel::porting::log_if_given("" __VA_ARGS__);      \
      return petrel_error_;                                 \
    }                                                       \
  } while (false)

#define ET_UNWRAP(result, ...)                         \
  ({                                                   \
    auto petrel_result_ = (result);                    \
    if (!petrel_result_.ok()) {                        \
      ::petrel::porting::log_if_given("" __VA_ARGS__); \
      return petrel_result_.error();                   \
    }                                                  \
    std::move(*petrel_result_);                        \
  })

#define ET_ASSIGN_OR_RETURN(name, result, ...)       \
  auto petrel_result_of_##name = (result);           \
  if (!petrel_result_of_##name.ok()) {               \
    ::petrel::porting::log_if_given("" __VA_ARGS__); \
    return petrel_result_of_##name.error();          \
  }                                                  \
  auto name = std::move(*petrel_result_of_##name)

namespace petrel::porting {

inline void log_if_given(const char* message) {
  if (*message != '\0') PETREL_LOG(Error, "%s", message);
}
template <typename First, typename... Rest>
void log_if_given(const char* format, First first, Rest... rest) {
  // The format is a literal of the caller, whom its compiler has warned.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  PETREL_LOG(Error, format, first, rest...);
#pragma GCC diagnostic pop
}

}  // namespace petrel::porting

#endif  // PETREL_EXTENSION_PORTING_MACROS_H_
