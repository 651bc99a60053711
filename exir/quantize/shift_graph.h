// SPDX-License-Identifier: Apache-2.0
//
// Integers err around a mean that is not 0: rounding a weight shifts what its channel makes,
// by about the same for all samples, and so do ranges that are cut. The shift can be
// measured, and a bias takes it back:
//
//   shown by a graph of floats   %y = linear(%x, @w, @b)        what the model computes
//                                %z = linear(%x', @w', @b)      in levels what it reads
//                                mean over all but channels of %y - %z
//   added to the quantised one   constant @b@shifted
//
// Each product is shown what the float model makes before it: shifts of several are
// independent, and all are measured at once.
#ifndef PETREL_EXIR_QUANTIZE_SHIFT_GRAPH_H_
#define PETREL_EXIR_QUANTIZE_SHIFT_GRAPH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/quantize/record.h"
#include "exir/quantize/stored_weights.h"

namespace petrel::exir {

// Makes the shifts of products that integers compute the outputs of a float graph, which is
// equalised; writes of state stay. Returns the names of the products. Those without an
// argument for a bias are left out. Precondition: `method` is of the graph, and static.
absl::StatusOr<std::vector<std::string>> show_shifts(Graph& graph, const MethodQuantization& method,
                                                     StoredWeights* weights);

// InvalidArgument naming shifts of what is no such product, of a weight with other numbers,
// or of another number of channels. `graph` is in floats, before it is equalised.
absl::Status check_shifts(const Graph& graph, const MethodQuantization& method);

// Adds the shifts of a product to its bias. Precondition: check_shifts() found it.
absl::Status add_shifts(Node& product, const std::vector<float>& shifts);

// SHA-256 of the weight of a product, in hexadecimal digits.
std::string weight_digest(const Node& product);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_SHIFT_GRAPH_H_
