// SPDX-License-Identifier: Apache-2.0
//
// Sizes and numbers of a graph as rewritings and lowerings read them: expressions,
// where sizes vary, that compute and compare like numbers (exir/ops/size.h).
//
//   const Sizes sizes = sizes_of(x);              [s0, 8]
//   b.view(x, {sizes[0] * sizes[1]})              %y = aten.view.default(%x, [-1])
//   if (sizes[0] > 3) ...                         splits the paths of who asks
//   if (is_always(sizes[0], 4)) ...               no: nothing is known of it
//
// Invariant: a size that varies never becomes a number unseen. What is converted to
// one, or read by fixed_int(), loses the path (exir/ops/paths.h), whose results are
// then not taken.
#ifndef PETREL_EXIR_OPS_READ_SIZES_H_
#define PETREL_EXIR_OPS_READ_SIZES_H_

#include <cstddef>
#include <cstdint>

#include "exir/ir/graph.h"
#include "exir/ops/size.h"

namespace petrel::exir {

rules::Sizes sizes_of(const TensorType& type);
rules::Sizes sizes_of(const Value* x);
// Of numbers that are fixed.
rules::Sizes sizes_of(const Sizes& numbers);
rules::Size numel_of(const Value* x);

// The sizes without their last `count`.
rules::Sizes leading(const rules::Sizes& sizes, size_t count);
rules::Size product(const rules::Sizes& sizes);

// An int, or one that is computed at run time from sizes.
bool is_size(const Argument& argument);
// Precondition: is_size().
rules::Size size_in(const Argument& argument);
// Of a list of such, or one repeated to `length`; empty for anything else.
rules::Sizes sizes_in(const Argument& argument, size_t length);
// A list of just these, in normal form.
bool holds(const Argument& argument, const rules::Sizes& sizes);
bool holds(const Argument& argument, const rules::Size& size);

// Of arguments that need to be written in the program; of one that is not, any
// number, and the path is lost.
int64_t fixed_int(const Argument& argument);
double fixed_number(const Argument& argument);

// Proven to be equal, whatever the symbols are. Unlike == it splits no path: for
// choices where both ways are right.
bool is_always(const rules::Size& a, const rules::Size& b);
bool is_always(const rules::Sizes& a, const rules::Sizes& b);
// Proven by their ranges, in the same way.
bool is_at_least(const rules::Size& a, const rules::Size& b);
bool is_at_most(const rules::Size& a, const rules::Size& b);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_OPS_READ_SIZES_H_
