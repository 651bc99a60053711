// SPDX-License-Identifier: Apache-2.0
//
// Versions, errors and the log of the C interface.

#include <cstdio>

#include "extension/c_api/guard.h"
#include "runtime/core/log.h"
#include "runtime/core/result.h"
#include "runtime/core/scalar_type.h"
#include "runtime/core/version.h"
#include "runtime/platform/isa_level.h"

namespace petrel::extension::c_api {

using runtime::Error;

namespace {

thread_local char failure_text[ErrorText::kMaxText] = "";

// The numbers of the header are those of Error.
static_assert(PETREL_INTERNAL == static_cast<int>(Error::Internal));
static_assert(PETREL_INVALID_STATE == static_cast<int>(Error::InvalidState));
static_assert(PETREL_NOT_SUPPORTED == static_cast<int>(Error::NotSupported));
static_assert(PETREL_NOT_IMPLEMENTED == static_cast<int>(Error::NotImplemented));
static_assert(PETREL_INVALID_ARGUMENT == static_cast<int>(Error::InvalidArgument));
static_assert(PETREL_INVALID_TYPE == static_cast<int>(Error::InvalidType));
static_assert(PETREL_OPERATOR_MISSING == static_cast<int>(Error::OperatorMissing));
static_assert(PETREL_NOT_FOUND == static_cast<int>(Error::NotFound));
static_assert(PETREL_OUT_OF_MEMORY == static_cast<int>(Error::MemoryAllocationFailed));
static_assert(PETREL_ACCESS_FAILED == static_cast<int>(Error::AccessFailed));
static_assert(PETREL_INVALID_PROGRAM == static_cast<int>(Error::InvalidProgram));
static_assert(PETREL_INVALID_DATA == static_cast<int>(Error::InvalidExternalData));
static_assert(PETREL_OUT_OF_RESOURCES == static_cast<int>(Error::OutOfResources));
static_assert(PETREL_DELEGATE_INCOMPATIBLE ==
              static_cast<int>(Error::DelegateInvalidCompatibility));
static_assert(PETREL_DELEGATE_OUT_OF_MEMORY ==
              static_cast<int>(Error::DelegateMemoryAllocationFailed));
static_assert(PETREL_DELEGATE_INVALID_HANDLE == static_cast<int>(Error::DelegateInvalidHandle));
static_assert(PETREL_LOG_DEBUG == static_cast<int>(runtime::LogLevel::Debug));
static_assert(PETREL_LOG_INFO == static_cast<int>(runtime::LogLevel::Info));
static_assert(PETREL_LOG_WARNING == static_cast<int>(runtime::LogLevel::Warning));
static_assert(PETREL_LOG_ERROR == static_cast<int>(runtime::LogLevel::Error));

}  // namespace

petrel_status keep_failure(Error error, const char* text) {
  std::snprintf(failure_text, sizeof(failure_text), "%s", *text != '\0' ? text : to_string(error));
  return static_cast<petrel_status>(error);
}

}  // namespace petrel::extension::c_api

using petrel::extension::c_api::guarded;
using petrel::runtime::Error;
using petrel::runtime::ScalarType;

extern "C" {

uint32_t petrel_api_version(void) { return PETREL_API_VERSION; }

const char* petrel_version(void) { return petrel::kVersion; }

const char* petrel_status_name(petrel_status status) {
  return petrel::runtime::to_string(static_cast<Error>(status));
}

const char* petrel_error_text(void) { return petrel::extension::c_api::failure_text; }

petrel_status petrel_set_log(petrel_log_fn log, void* context) {
  return guarded([&] {
    petrel::extension::set_log_sink({log, context});
    return Error::Ok;
  });
}

petrel_status petrel_set_isa_level(const char* level) {
  using petrel::extension::c_api::require;
  return guarded([&] {
    PETREL_RETURN_IF_ERROR(require(level, "level"));
    return petrel::runtime::set_isa_level(level);
  });
}

size_t petrel_dtype_size(int32_t dtype) {
  if (dtype < INT8_MIN || dtype > INT8_MAX) return 0;
  return petrel::runtime::element_size(static_cast<ScalarType>(dtype));
}

}  // extern "C"
