// SPDX-License-Identifier: Apache-2.0
//
// Writes into a linked library how many bytes it has and their SHA-256, so that who opens it
// sees damage before its code runs. A checksum against accidents: it proves nothing about who
// made the file.
//
//   PETREL_RETURN_IF_ERROR(seal(model_sha256, &library));
#ifndef PETREL_EXIR_COMPILE_C_SEAL_H_
#define PETREL_EXIR_COMPILE_C_SEAL_H_

#include <string>

#include "absl/status/status.h"
#include "exir/ir/blob.h"

namespace petrel::exir {

// FailedPrecondition when not exactly one header of a module of this model (petrel_module.h)
// is in `library`.
absl::Status seal(const Sha256& model, std::string* library);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_COMPILE_C_SEAL_H_
