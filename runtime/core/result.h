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

#define PETREL_INTERNAL_CONCAT2(a, b) a##b
#define PETREL_INTERNAL_CONCAT(a, b) PETREL_INTERNAL_CONCAT2(a, b)

// Returns from the enclosing function when `expr`, an Error, is not Ok.
#define PETREL_RETURN_IF_ERROR(expr)                                         \
  do {                                                                       \
    const ::petrel::runtime::Error petrel_error_ = (expr);                   \
    if (petrel_error_ != ::petrel::runtime::Error::Ok) return petrel_error_; \
  } while (0)

// Declares or assigns `lhs` from `expr`, a Result; returns its error if it failed.
#define PETREL_ASSIGN_OR_RETURN(lhs, expr) \
  PETREL_INTERNAL_ASSIGN_OR_RETURN(PETREL_INTERNAL_CONCAT(petrel_result_, __LINE__), lhs, expr)
#define PETREL_INTERNAL_ASSIGN_OR_RETURN(result, lhs, expr) \
  auto result = (expr);                                     \
  if (!result.ok()) return result.error();                  \
  lhs = std::move(result.get())

#endif  // PETREL_RUNTIME_CORE_RESULT_H_
