// SPDX-License-Identifier: Apache-2.0
//
// Inputs and outputs with channels innermost, whatever is inside of a method: each is copied into
// the order of the program, or from it.
//
//   %x : f32[1,3,8,8]            %x : f32[1,3,8,8]{0,2,3,1}
//                                %x_in_order = aten.clone.default(%x) : f32[1,3,8,8]
//
// Levels of 8 bits stay, as kernels of integers may take them so without a copy (channel_layout.h),
// and so does what has sizes that vary.
#ifndef PETREL_EXIR_EMIT_C_BORDER_ORDER_H_
#define PETREL_EXIR_EMIT_C_BORDER_ORDER_H_

#include <vector>

#include "exir/emit_c/text_files.h"
#include "exir/ir/program.h"
#include "exir/ir/type.h"

namespace petrel::exir::emit_c {

// Whether places come before channels, as in {0,2,3,1}.
bool is_channels_innermost(const TensorType& type);
// The same sizes, with channels innermost.
TensorType channels_innermost(TensorType type);
// Whether that is another order: not where there is one channel or one place.
bool has_two_orders(const TensorType& type);

// A copy, which shares constants.
Program with_channels_innermost(const Program& program);

// Gives the bytes of inputs and outputs the order of `to`, which was made of `from` as above; one
// call of each method.
void reorder_calls(const Program& from, const Program& to, std::vector<GoldenCall>* calls);

// Elements in the order of channels_innermost(type), of those in row-major order.
Blob with_channels_innermost(const TensorType& type, const Blob& data);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_BORDER_ORDER_H_
