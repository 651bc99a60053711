// SPDX-License-Identifier: Apache-2.0
//
// Looks up rows of a table that is stored as integers and dequantises those alone, where
// a program dequantises the whole table first:
//
//   before   %w = torchao.dequantize_affine.default(%q : i8[50,64], [1,32], %s, none, i8, -8, 7)
//            %y = aten.embedding.default(%w, %i)
//   after    %p = constant @q#4bit : u8[50,32]
//            %y = quantized_decomposed.embedding_4bit.default(%p, %s, none, -8, 7, %i)
//
// Tables whose levels are those of 4 or 2 bits are packed, two or four to a byte.
#ifndef PETREL_EXIR_PASS_PASSES_QUANTIZED_EMBEDDINGS_H_
#define PETREL_EXIR_PASS_PASSES_QUANTIZED_EMBEDDINGS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

// InvalidArgument for a table with a level that the program rules out.
absl::StatusOr<bool> quantized_embeddings(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_QUANTIZED_EMBEDDINGS_H_
