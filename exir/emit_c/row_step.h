// SPDX-License-Identifier: Apache-2.0
//
// The code of nodes that run together (row_block.h): loops over rows, one in another, each of
// which makes the rows that the one around it reads.
//
//   int32_t row_0 = 0;
//   for (int32_t row_2 = 0; row_2 < 32; ++row_2) {
//     for (; row_0 < 32 && row_0 <= row_2 + 1; ++row_0) {
//       net_kernel_int8_convolution_2(row_0, ..., ring + row_0 % 3 * 512);
//     }
//     net_kernel_int8_convolution_3(row_2, ring, ..., out + row_2 * 512);
//   }
#ifndef PETREL_EXIR_EMIT_C_ROW_STEP_H_
#define PETREL_EXIR_EMIT_C_ROW_STEP_H_

#include <string>

#include "absl/status/statusor.h"
#include "exir/emit_c/kernel_library.h"
#include "exir/emit_c/package.h"
#include "exir/emit_c/places.h"
#include "exir/emit_c/row_block.h"
#include "exir/memory/storage.h"

namespace petrel::exir::emit_c {

// As make_step(), of all nodes of a block.
absl::StatusOr<CStep> make_row_step(const RowBlock& block, const Places& places,
                                    const Storage& storage, const std::string& number,
                                    const Package& package, KernelLibrary* library);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_ROW_STEP_H_
