// SPDX-License-Identifier: Apache-2.0
//
// A partition of the null NPU as C: one loop over the elements, for boards that have no such
// device. The named blobs are those of the payload, by their SHA-256.
#ifndef PETREL_EXAMPLES_NULL_NPU_C_C_SOURCE_H_
#define PETREL_EXAMPLES_NULL_NPU_C_C_SOURCE_H_

#include <string>

#include "exir/backend/c_delegate.h"
#include "exir/ir/graph.h"

namespace petrel::backends::null_npu {

exir::CDelegate c_source(const exir::Graph& partition, const std::string& prefix);

}  // namespace petrel::backends::null_npu

#endif  // PETREL_EXAMPLES_NULL_NPU_C_C_SOURCE_H_
