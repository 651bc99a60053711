// SPDX-License-Identifier: Apache-2.0
//
// Which parameters lie in the pool of a user. In the order of the files each goes to the
// first of its pools that has room, below what is preferred there and within its limit:
//
//   pools.of_parameter("conv1.weight").pools == {0, 1}   itcm, then flash
//   itcm   limit=4K      conv1.weight, conv1.bias
//   flash  limit=64K     all the others; more is an error
//
// In a read-write pool they get rooms, into which they are loaded.
#ifndef PETREL_EXIR_EMIT_C_PARAMETER_POOLS_H_
#define PETREL_EXIR_EMIT_C_PARAMETER_POOLS_H_

#include <vector>

#include "absl/status/status.h"
#include "exir/emit_c/package.h"

namespace petrel::exir::emit_c {

// `shortages` say what is missing in each pool and its five largest parameters.
absl::Status place_parameters(const CPools& pools, std::vector<CParameter>* parameters,
                              std::vector<std::string>* shortages);

// Bytes of a pool that its parameters take, all aligned as it says.
int64_t constant_bytes(const std::vector<CParameter>& parameters, const plan::MemoryPool& pool);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_PARAMETER_POOLS_H_
