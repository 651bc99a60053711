// SPDX-License-Identifier: Apache-2.0
//
// Rewrites a float graph with the numbers of a record, in the form that PT2E gives
// quantised programs, so that backends and kernels see one form whoever quantised:
//
//   before  %y = aten.linear.default(%x, constant @w : f32[8,4], constant @b)
//   after   %q = quantize_per_tensor(%x, 0.02, 3, -128, 127, i8)
//           %d = dequantize_per_tensor(%q, 0.02, 3, -128, 127, i8)
//           %w = dequantize_per_channel(constant @w@int8 : i8[8,4], scales, none, 0, ...)
//           %l = aten.linear.default(%d, %w, constant @b)
//           %r = quantize_per_tensor(%l, ...)    %y = dequantize_per_tensor(%r, ...)
//
// Biases stay floats: integers for them follow from the scales around them. Other schemes
// than the static one are in dynamic_graph.h.
#ifndef PETREL_EXIR_QUANTIZE_QUANTIZE_GRAPH_H_
#define PETREL_EXIR_QUANTIZE_QUANTIZE_GRAPH_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/ir/program.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/histogram.h"
#include "exir/quantize/range_choice.h"
#include "exir/quantize/record.h"

namespace petrel::exir {

// Nodes that the scheme of `method` computes with integers, in the order of the graph.
std::vector<const Node*> quantizable_nodes(const Graph& graph, const MethodQuantization& method,
                                           QuantTarget target = QuantTarget::kBackends);

// Values of an expanded graph (expand_for_integers.h) that get numbers under the static scheme
// and that samples tell of.
struct ObservedValues {
  std::vector<Value*> values;      // each once, in the order of the graph
  std::set<std::string> optional;  // those that only integers alone need numbers for
};

// Constants that need numbers have them from their elements.
ObservedValues observed_values(const Graph& graph, const KeptFloat& keep_float);

// By name of value, in one method.
using Ranges = std::map<std::string, Range>;
using Histograms = std::map<std::string, Histogram>;

// Of each value in `ranges` that needs numbers, the range of all values that share them.
// InvalidArgument naming a value that nothing was seen of, unless it is optional.
absl::StatusOr<Ranges> shared_ranges(const Graph& graph, const Ranges& ranges,
                                     const KeptFloat& keep_float);

// Numbers for all values that need some: for the whole range that a value was seen to lie
// in or, where `histograms` has one over its shared range, for the part of it that `choice`
// shows.
absl::StatusOr<MethodQuantization> choose_numbers(const Graph& graph, const Ranges& ranges,
                                                  const Histograms& histograms,
                                                  const RangeChoice& choice,
                                                  const KeptFloat& keep_float);

// All methods of the record, which must be methods of the program, expanded for integers alone.
// InvalidArgument naming the method and value where the record is of another model. The result
// says which nodes stayed float, by method.
absl::StatusOr<std::map<std::string, std::vector<LeftFloat>>> quantize_program(
    Program& program, const QuantizationRecord& record,
    QuantTarget target = QuantTarget::kBackends);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_QUANTIZE_GRAPH_H_
