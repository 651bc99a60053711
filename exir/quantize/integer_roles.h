// SPDX-License-Identifier: Apache-2.0
//
// What a node is where levels of 8 bits stand for its numbers. It depends on who computes:
// backends have forms for what large models spend their time on, and leave the rest to floats;
// integers alone (exir/integer) must have one for each node.
//
//   %c = convolution(%x, constant @w, ...)   kProduct: with a weight that is stored in levels
//   %a = add(%c, %b)                         kJoin: of several, with a result of its own
//   %v = view(%a)                            kMove: elements of its inputs, with their scale
//   %t = tanh(%v)                            kOne: of one
//   %s = cumsum(%t)                          kFloat: no integers
#ifndef PETREL_EXIR_QUANTIZE_INTEGER_ROLES_H_
#define PETREL_EXIR_QUANTIZE_INTEGER_ROLES_H_

#include <vector>

#include "exir/ir/graph.h"

namespace petrel::exir {

// Who computes with the integers: backends, which keep float what integers gain nothing for;
// backends that take and give integers; or integers alone.
enum class QuantTarget { kBackends, kBackendsAtBorder, kIntegers };

enum class IntegerRole { kFloat, kProduct, kJoin, kMove, kOne };

IntegerRole role_of(const Node& node, QuantTarget target);

// The operands that levels stand for: not weights, indices or masks. Each once.
std::vector<Value*> level_inputs(const Node& node, QuantTarget target);

// Whether integers can stand for all that the node computes with and makes.
bool fits_integers(const Node& node, QuantTarget target);

// relu, hardtanh and clamp: levels are clamped in the place of numbers.
bool is_clamp(const Node& node);
// The ends of a clamp as it computes them, infinite for none; false where one is no number that is
// known, or the node is another one.
bool read_clamp(const Node& node, double* least, double* most);
bool is_float_tensor(const Value& value);

// A number times what a node makes, above 0: it goes into the scale.
bool is_scaling(const Node& node);

// A function of one tensor, element by element: all that stand in a row are one table.
bool is_table(const Node& node);

// Numbers from here down shut out what they are added to, or stand for, before a softmax.
inline constexpr double kShutOut = -1e4;
// A constant of one element.
bool is_constant_number(const Value& value, double number);
bool shuts_out(const Value& value);
// where(allowed, x, -inf), which only a softmax reads: both are one form.
bool masks_softmax(const Node& node);

// Elements of its first argument, or the largest of some, or a number beside them.
bool moves_levels(const Node& node);
// Elements of its first argument as they are, at places that attributes or indices say; XNNPACK
// has none of these.
bool picks_elements(const Node& node);
// The same of several tensors.
bool joins_levels(const Node& node);

// Looks at levels as it does at numbers, and gives none: comparisons with a number, argmax, the
// places of topk.
bool chooses_among_levels(const Node& node);

// The dimension of output channels in the weight of a product.
size_t weight_axis(const Node& product);
// The weight of a product, a constant of f32; null of other nodes.
Value* product_weight(const Node& node);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_INTEGER_ROLES_H_
