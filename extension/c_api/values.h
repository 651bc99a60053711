// SPDX-License-Identifier: Apache-2.0
//
// Values of the C interface as those of the runtime, and back.
//
//   PETREL_RETURN_IF_ERROR(check_input(value, index));
//   InputTensor place;
//   const EValue input = to_evalue(value, &place);
//
// Own nothing: tensors and strings point where they pointed, and an EValue into its place.
#ifndef PETREL_EXTENSION_C_API_VALUES_H_
#define PETREL_EXTENSION_C_API_VALUES_H_

#include <cstddef>
#include <cstdint>

#include "extension/c_api/petrel.h"
#include "extension/module/module.h"
#include "runtime/core/evalue.h"
#include "runtime/core/result.h"

namespace petrel::extension::c_api {

// Of an input or output: kind and, of a tensor, all but data.
runtime::Result<petrel_value> info_of(runtime::Tag tag,
                                      const runtime::Result<runtime::TensorInfo>& tensor);

// The tensor of an input, over arrays that Tensor only points at.
struct InputTensor {
  int32_t sizes[PETREL_MAX_RANK];
  uint8_t dim_order[PETREL_MAX_RANK];
  runtime::TensorImpl impl;
};

runtime::Error check_input(const petrel_value& value, size_t index);

// Precondition: check_input() passed. The value points into `place`.
runtime::EValue to_evalue(const petrel_value& value, InputTensor* place);

petrel_value from_evalue(const runtime::EValue& from);

}  // namespace petrel::extension::c_api

#endif  // PETREL_EXTENSION_C_API_VALUES_H_
