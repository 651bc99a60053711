/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention by blocks: products and softmax as one node of XNNPACK, which computes some rows of
 * scores at a time, so that they stay in a cache.
 *
 *   const struct petrel_attention* attention = ...;           // program.h
 *   petrel_define_attention(subgraph, attention, inputs, output);
 *
 *   nodes     scores of all rows -> memory -> softmax -> memory -> product with values
 *   blocks    for some rows: scores -> softmax -> product with values
 *
 * Its kernels are those that XNNPACK's operators of products, softmaxes and pairs call, and each
 * number is made of the same ones in the same order, so results are the same bits, whatever the
 * blocks and threads.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_ATTENTION_ATTENTION_H_
#define PETREL_THIRD_PARTY_XNNPACK_ATTENTION_ATTENTION_H_

#include <stddef.h>
#include <stdint.h>

#include "third_party/xnnpack/attention/program.h"
#include "xnnpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All values are of floats. The program outlives the runtime. */
enum xnn_status petrel_define_attention(xnn_subgraph_t subgraph,
                                        const struct petrel_attention* attention,
                                        const uint32_t* inputs, uint32_t output);

struct xnn_operator_data;
struct xnn_value;

/* In multiply-adds, as XNNPACK counts the nodes that it stands for. */
size_t petrel_attention_work(const struct xnn_operator_data* data, const struct xnn_value* values);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_ATTENTION_ATTENTION_H_ */
