// SPDX-License-Identifier: Apache-2.0
//
// The writes of ExecuTorch's decoders to caches of keys and values, for functionalize:
//
//   before   %u = llama.update_cache.default(%rows, %cache, %start)   : f32[1]
//   after    %n = aten.arange.default(3)
//            %i = aten.add.Scalar(%n, %start)
//            %c = aten.index_put.default(%cache, [none, %i], %rows)   the cache from here on
//
// The emitter lets index_put write where the cache lies.
#ifndef PETREL_EXIR_PASS_PASSES_CACHE_WRITES_H_
#define PETREL_EXIR_PASS_PASSES_CACHE_WRITES_H_

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/pass/framework/builder.h"

namespace petrel::exir {

bool writes_cache(const Node& node);

// What `cache` holds after `node`, which writes_cache().
BuiltValue cache_after(Builder& b, const Node& node, Value* cache);

// sdpa_with_kv_cache, which writes two caches and reads both, as an operator for each.
absl::StatusOr<bool> split_cache_attention(Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_CACHE_WRITES_H_
