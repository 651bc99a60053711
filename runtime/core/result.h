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

template <typename T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<std::remove_cv_t<T>, Error>);

 public:
  using value_type = T;

  // Implicit, so that `return error;` and `return value;` both work.
  Result(Error error) : error_(error == Error::Ok ? Error::Internal : error) {}
  Result(const T& value) : error_(Error::Ok) { new (&value_) T(value); }
  Result(T&& value) : error_(Error::Ok) { new (&value_) T(std::move(value)); }

  Result(Result&& other) : error_(other.error_) {
    if (ok()) new (&value_) T(std::move(other.value_));
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  Result& operator=(Result&&) = delete;

  ~Result() {
    if (ok()) value_.~T();
  }

  bool ok() const { return error_ == Error::Ok; }
  Error error() const { return error_; }

  T& get() { return check(), value_; }
  const T& get() const { return check(), value_; }
  T& operator*() & { return get(); }
  const T& operator*() const& { return get(); }
  T&& operator*() && { return std::move(get()); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &get(); }

 private:
  void check() const {
    if (!ok()) __builtin_trap();
  }

  Error error_;
  union {
    std::remove_const_t<T> value_;
  };
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
