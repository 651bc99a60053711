/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells: many small nodes as one of XNNPACK, which takes as long to make as one.
 *
 *   const struct petrel_cell* cell = ...;           // program.h
 *   petrel_define_cell(subgraph, cell, inputs, outputs);
 *
 * Its kernels are those that XNNPACK's operators of the functions call, so results are the same
 * bits. A cell keeps the sizes that it was made for: of other ones it is refused when it gets them.
 * One thread computes it.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_CELL_CELL_H_
#define PETREL_THIRD_PARTY_XNNPACK_CELL_CELL_H_

#include <stddef.h>
#include <stdint.h>

#include "third_party/xnnpack/cell/program.h"
#include "xnnpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All values are of floats; the outputs have their sizes. The cell outlives the runtime. */
enum xnn_status petrel_define_cell(xnn_subgraph_t subgraph, const struct petrel_cell* cell,
                                   const uint32_t* inputs, const uint32_t* outputs);

struct xnn_operator_data;

/* In multiply-adds, as XNNPACK counts the nodes that it stands for. */
size_t petrel_cell_work(const struct xnn_operator_data* data);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_CELL_CELL_H_ */
