// SPDX-License-Identifier: Apache-2.0
//
// Result<T>: a value, or the Error that kept it from being made. Never holds
// Error::Ok without a value.
//
//   Result<Program> program = Program::load(&loader);
//   if (!program.ok()) return program.error();
//   program->num_methods();
//
// Inside the runtime the two macros below are the only hidden returns:
//
//   PETREL_RETURN_IF_ERROR(check_rank(tensor));
//   PETREL_ASSIGN_OR_RETURN(void* scratch, context.allocate_temp(64));
//
// Reading the value of a failed Result ends the process; it is a mistake in
// the code, never the effect of an input.

#ifndef PETREL_RUNTIME_CORE_RESULT_H_
#define PETREL_RUNTIME_CORE_RESULT_H_

#include <new>
#include <type_traits>
#include <utility>

#include "runtime/core/error.h"

namespace petrel::runtime {

namespace internal {

// The error and the place of the value. Of a value that is copied by its bytes, so is this: it
// is returned in registers, and leaving a function costs nothing.
template <typename T, bool = std::is_trivially_copyable_v<T>>
struct ResultStorage {
  explicit ResultStorage(Error failure) : error(failure), nothing() {}
  explicit ResultStorage(const T& from) : error(Error::Ok), value(from) {}

  Error error;
  union {
    char nothing;
    T value;
  };
};

template <typename T>
struct ResultStorage<T, false> {
  explicit ResultStorage(Error failure) : error(failure) {}
  explicit ResultStorage(const T& from) : error(Error::Ok) { new (&value) T(from); }
  explicit ResultStorage(T&& from) : error(Error::Ok) { new (&value) T(std::move(from)); }
  ResultStorage(ResultStorage&& other) : error(other.error) {
    if (error == Error::Ok) new (&value) T(std::move(other.value));
  }
  ResultStorage(const ResultStorage&) = delete;
  ~ResultStorage() {
    if (error == Error::Ok) value.~T();
  }

  Error error;
  union {
    T value;
  };
};

}  // namespace internal

template <typename T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<std::remove_cv_t<T>, Error>);

 public:
  using value_type = T;

  // Implicit, so that `return error;` and `return value;` both work.
  Result(Error error) : held_(error == Error::Ok ? Error::Internal : error) {}
  Result(const T& value) : held_(value) {}
  Result(T&& value) : held_(std::move(value)) {}

  Result(Result&& other) = default;
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  Result& operator=(Result&&) = delete;

  [[gnu::always_inline]] bool ok() const { return held_.error == Error::Ok; }
  Error error() const { return held_.error; }

  [[gnu::always_inline]] T& get() { return check(), held_.value; }
  [[gnu::always_inline]] const T& get() const { return check(), held_.value; }
  [[gnu::always_inline]] T& operator*() & { return get(); }
  [[gnu::always_inline]] const T& operator*() const& { return get(); }
  [[gnu::always_inline]] T&& operator*() && { return std::move(get()); }
  [[gnu::always_inline]] T* operator->() { return &get(); }
  [[gnu::always_inline]] const T* operator->() const { return &get(); }

 private:
  // Inline whatever is optimised for: behind a question for ok(), nothing is left of it.
  [[gnu::always_inline]] void check() const {
    if (!ok()) __builtin_trap();
  }

  internal::ResultStorage<std::remove_const_t<T>> held_;
};

}  // namespace petrel::runtime

namespace petrel::control_flow {

// What the macros ask; exir/status_macros.h has the same for absl::Status.
inline bool is_ok(runtime::Error error) { return error == runtime::Error::Ok; }
template <typename T>
runtime::Error error_of(const runtime::Result<T>& result) {
  return result.error();
}

}  // namespace petrel::control_flow

// PETREL_RETURN_IF_ERROR returns from the enclosing function when `expr`, an Error, is not
// Ok; PETREL_ASSIGN_OR_RETURN declares or assigns `lhs` from `expr`, a Result, or returns
// its error. The text is that of exir/status_macros.h, so that both can be included.
#define PETREL_INTERNAL_CONCAT2(a, b) a##b
#define PETREL_INTERNAL_CONCAT(a, b) PETREL_INTERNAL_CONCAT2(a, b)
#define PETREL_RETURN_IF_ERROR(expr)                                           \
  do {                                                                         \
    auto petrel_status_ = (expr);                                              \
    if (!::petrel::control_flow::is_ok(petrel_status_)) return petrel_status_; \
  } while (false)
#define PETREL_ASSIGN_OR_RETURN(lhs, expr) \
  PETREL_INTERNAL_ASSIGN_OR_RETURN(PETREL_INTERNAL_CONCAT(petrel_result_, __LINE__), lhs, expr)
#define PETREL_INTERNAL_ASSIGN_OR_RETURN(result, lhs, expr)                     \
  auto result = (expr);                                                         \
  if (!result.ok()) return ::petrel::control_flow::error_of(std::move(result)); \
  lhs = *std::move(result)

#endif  // PETREL_RUNTIME_CORE_RESULT_H_
