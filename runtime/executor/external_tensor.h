// SPDX-License-Identifier: Apache-2.0
//
// Data from outside for a tensor of a method: what agrees with the layout that the
// program needs, or an error that names the tensor. A key that is not there is
// InvalidExternalData.
//
//   PETREL_ASSIGN_OR_RETURN(FreeableBuffer data, fetch_external(map, "fc.bias", tensor));

#ifndef PETREL_RUNTIME_EXECUTOR_EXTERNAL_TENSOR_H_
#define PETREL_RUNTIME_EXECUTOR_EXTERNAL_TENSOR_H_

#include <string_view>

#include "runtime/core/freeable_buffer.h"
#include "runtime/core/named_data_map.h"
#include "runtime/core/result.h"
#include "runtime/core/tensor.h"

namespace petrel::runtime {

// True if the map tells the layout, which is then the tensor's; false if it does not
// tell. `map` may be null, which is an error.
Result<bool> check_external_layout(const NamedDataMap* map, std::string_view name,
                                   const TensorImpl& tensor);

// Whether `data`, which the map gave for the name, is what the tensor needs: its layout, and at
// least as many bytes as it has.
Error check_external_data(const NamedDataMap* map, std::string_view name, const TensorImpl& tensor,
                          const FreeableBuffer& data);

// Data for which that holds.
Result<FreeableBuffer> fetch_external(const NamedDataMap* map, std::string_view name,
                                      const TensorImpl& tensor);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_EXTERNAL_TENSOR_H_
