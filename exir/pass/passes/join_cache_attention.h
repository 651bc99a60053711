// SPDX-License-Identifier: Apache-2.0
//
// Attention over two caches that it has just written rows of, as the one operator that
// does both in place. cache_writes.h takes it apart, for passes that know no writes.
//
//   before   %n = aten.arange.start_step(0, %count, 1)
//            %i = aten.add.Scalar(%n, %start)
//            %k = aten.index_put.default(%keys, [none, %i], %key)
//            %v = aten.index_put.default(%values, [none, %i], %value)
//            %y = llama.custom_sdpa.default(%query, %k, %v, %start)
//            write %k to %keys
//            write %v to %values
//   after    %y = llama.sdpa_with_kv_cache.default(%query, %key, %value, %keys, %values, %start,
//                                                  %count)
//
// Only where queries, keys and values have one number of rows, and nobody else reads the
// caches, before or after: their order would be lost.
#ifndef PETREL_EXIR_PASS_PASSES_JOIN_CACHE_ATTENTION_H_
#define PETREL_EXIR_PASS_PASSES_JOIN_CACHE_ATTENTION_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> join_cache_attention(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_JOIN_CACHE_ATTENTION_H_
