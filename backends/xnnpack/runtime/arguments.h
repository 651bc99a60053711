// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a delegate's execution: tensors of the application, compared with
// what a payload says of its values.
//
//   PETREL_ASSIGN_OR_RETURN(Tensor x, tensor_argument(args, 0, graph.values[id], true));
//   if (!may_over_read(context, x.const_data_ptr(), x.nbytes())) ...   // copy it first
//
// What does not fit is an error that names the argument. Owns nothing.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_ARGUMENTS_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/runtime/over_read.h"
#include "runtime/backend/interface.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"
#include "runtime/core/tensor.h"

namespace petrel::backends::xnnpack {

// Which dim of the tensor is at `place`, counted from the outermost in memory.
uint8_t axis_at(const runtime::Tensor& tensor, size_t place);

// Argument `index` as a tensor with data, of the rank of `value`, and of its type or is_unsigned().
// Scalars, which ExecuTorch writes as [1], may also come as what they are: rank 0. Without
// `needs_data` it may have none.
runtime::Result<runtime::Tensor> tensor_argument(runtime::Span<runtime::EValue*> args, size_t index,
                                                 const Value& value, bool needs_data);

// Levels of uint8 where the payload has int8: so ExecuTorch writes programs of uint8. The same
// bytes stand for the same levels from 0 to 127.
bool is_unsigned(const runtime::Tensor& tensor, const Value& value);

// InvalidArgument for an input with a level above 127, which XNNPACK would take for a negative one.
runtime::Error check_levels(const void* data, size_t nbytes, size_t index);

// Makes levels below 0 of an output 0, which uint8 saturates at.
void raise_levels(uint8_t* levels, size_t nbytes);

// Whether XNNPACK may be given `data` as it is.
bool may_over_read(const runtime::BackendExecutionContext& context, const void* data,
                   size_t nbytes);

// Gives output `index` of the arguments these dims.
runtime::Error resize_output(const runtime::Tensor& tensor, size_t index, const Dims& dims);

// Room in `staging` for a copy of `nbytes`, which the context pays for.
runtime::Error reserve_staging(const runtime::BackendExecutionContext& context, size_t argument,
                               size_t nbytes, PaddedBuffer* staging);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_ARGUMENTS_H_
