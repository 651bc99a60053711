// SPDX-License-Identifier: Apache-2.0
//
// What every function of the C interface does around its work: collects what
// the runtime says, keeps it for petrel_error_text(), and lets no exception out.
//
//   return guarded([&]() -> Error { ... });
#ifndef PETREL_EXTENSION_C_API_GUARD_H_
#define PETREL_EXTENSION_C_API_GUARD_H_

#include <cstddef>
#include <exception>
#include <new>

#include "extension/module/error_text.h"
#include "extension/c_api/petrel.h"
#include "runtime/core/error.h"
#include "runtime/core/log.h"

namespace petrel::extension::c_api {

// Keeps `text`, or the name of `error` if that is empty, for the thread.
petrel_status keep_failure(runtime::Error error, const char* text);

template <typename Work>
petrel_status guarded(Work work) noexcept {
  const ErrorText text;
  runtime::Error error = runtime::Error::Internal;
  try {
    error = work();
  } catch (const std::bad_alloc&) {
    error = runtime::Error::MemoryAllocationFailed;
  } catch (const std::exception& e) {
    PETREL_LOG(Error, "%s", e.what());
  } catch (...) {
    PETREL_LOG(Error, "an unknown exception was thrown");
  }
  if (error == runtime::Error::Ok) return PETREL_OK;
  return keep_failure(error, text.text());
}

// InvalidArgument, told by name, unless `pointer` is one.
inline runtime::Error require(const void* pointer, const char* name) {
  if (pointer != nullptr) return runtime::Error::Ok;
  PETREL_LOG(Error, "%s is NULL, must not be", name);
  return runtime::Error::InvalidArgument;
}

// InvalidArgument, with the limit, unless `index` is below `count`.
inline runtime::Error check_index(const char* what, size_t index, size_t count) {
  if (index < count) return runtime::Error::Ok;
  PETREL_LOG(Error, "%s is %zu, must be less than %zu", what, index, count);
  return runtime::Error::InvalidArgument;
}

}  // namespace petrel::extension::c_api

#endif  // PETREL_EXTENSION_C_API_GUARD_H_
