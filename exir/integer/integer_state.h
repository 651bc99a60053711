// SPDX-License-Identifier: Apache-2.0
//
// State in levels: a buffer that is only ever read in the levels of one scale is kept in them.
//
//   before   %h = constant @h : f32[1,4]        (a buffer)
//            %q = quantize_per_tensor(%h, 0.02, 3, ...)
//            ...
//            write @h = %y : f32[1,4]
//   after    %h = constant @h : i8[1,4]         its levels
//            ...
//            %w = quantize_per_tensor(%y, 0.02, 3, ...)
//            write @h = %w : i8[1,4]
//
// Methods share buffers, so all of a program agree or none.
#ifndef PETREL_EXIR_INTEGER_INTEGER_STATE_H_
#define PETREL_EXIR_INTEGER_INTEGER_STATE_H_

#include "absl/status/status.h"
#include "exir/ir/program.h"

namespace petrel::exir {

absl::Status integer_state(Program& program);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_INTEGER_INTEGER_STATE_H_
