// SPDX-License-Identifier: Apache-2.0
//
// Error codes of the runtime. The numbers are those of ExecuTorch, so that a
// code printed by either means the same. What exactly was wrong is logged when
// the error is made (see log.h); the code says what a caller can do about it.
//
//   Error e = method->execute();
//   if (e != Error::Ok) fprintf(stderr, "%s\n", to_string(e));

#ifndef PETREL_RUNTIME_CORE_ERROR_H_
#define PETREL_RUNTIME_CORE_ERROR_H_

#include <cstdint>

namespace petrel::runtime {

enum class [[nodiscard]] Error : uint32_t{
    Ok = 0x00,

    // The runtime or a backend is at fault.
    Internal = 0x01,
    // The call is wrong now, but may be right later (or was earlier).
    InvalidState = 0x02,
    // Not a failure: step() has run the last instruction.
    EndOfMethod = 0x03,
    AlreadyLoaded = 0x04,

    // The request is meaningful, but nothing here can do it.
    NotSupported = 0x10,
    // An optional part of an interface that this object does not have.
    NotImplemented = 0x11,
    // The caller passed something wrong.
    InvalidArgument = 0x12,
    // The caller passed a value of the wrong type.
    InvalidType = 0x13,
    // The program needs kernels that this binary does not have.
    OperatorMissing = 0x14,
    RegistrationExceedingMaxKernels = 0x15,
    RegistrationAlreadyRegistered = 0x16,

    NotFound = 0x20,
    // An allocator had no more memory. Never the fault of a file.
    MemoryAllocationFailed = 0x21,
    // Reading a file failed.
    AccessFailed = 0x22,
    // The program file is damaged, hostile or made wrongly.
    InvalidProgram = 0x23,
    // An external data file is damaged, or does not fit the program.
    InvalidExternalData = 0x24,
    // A limit that the application set was reached.
    OutOfResources = 0x25,

    // A payload is not one that this backend can run.
    DelegateInvalidCompatibility = 0x30,
    DelegateMemoryAllocationFailed = 0x31,
    DelegateInvalidHandle = 0x32,
};

// The name of the enumerator, "unknown error" for any other number.
constexpr const char* to_string(Error error) {
  switch (error) {
    case Error::Ok:
      return "Ok";
    case Error::Internal:
      return "Internal";
    case Error::InvalidState:
      return "InvalidState";
    case Error::EndOfMethod:
      return "EndOfMethod";
    case Error::AlreadyLoaded:
      return "AlreadyLoaded";
    case Error::NotSupported:
      return "NotSupported";
    case Error::NotImplemented:
      return "NotImplemented";
    case Error::InvalidArgument:
      return "InvalidArgument";
    case Error::InvalidType:
      return "InvalidType";
    case Error::OperatorMissing:
      return "OperatorMissing";
    case Error::RegistrationExceedingMaxKernels:
      return "RegistrationExceedingMaxKernels";
    case Error::RegistrationAlreadyRegistered:
      return "RegistrationAlreadyRegistered";
    case Error::NotFound:
      return "NotFound";
    case Error::MemoryAllocationFailed:
      return "MemoryAllocationFailed";
    case Error::AccessFailed:
      return "AccessFailed";
    case Error::InvalidProgram:
      return "InvalidProgram";
    case Error::InvalidExternalData:
      return "InvalidExternalData";
    case Error::OutOfResources:
      return "OutOfResources";
    case Error::DelegateInvalidCompatibility:
      return "DelegateInvalidCompatibility";
    case Error::DelegateMemoryAllocationFailed:
      return "DelegateMemoryAllocationFailed";
    case Error::DelegateInvalidHandle:
      return "DelegateInvalidHandle";
  }
  return "unknown error";
}

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_ERROR_H_
