// SPDX-License-Identifier: Apache-2.0
//
// The values that a record has numbers for, so that one calibration serves backends and
// integers alone: those of both, and one scale where either shares one.
//
//   %c = convolution(%x, constant @w)    backends: {x} {c}
//   %s = softmax(%c)                     integers: {x} {c} {s}
//
// The graph is one that expand_for_integers() has been through.
#ifndef PETREL_EXIR_QUANTIZE_SCALE_GROUPS_H_
#define PETREL_EXIR_QUANTIZE_SCALE_GROUPS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/quantize/record.h"

namespace petrel::exir {

struct ScaleGroup {
  std::vector<Value*> values;
  // Values of it that backends need no numbers for: samples may leave them out.
  std::set<const Value*> optional;
};

// In the order of the graph.
std::vector<ScaleGroup> scale_groups(const Graph& graph, const KeptFloat& keep_float);

// Names of all values that a record of `graph`, expanded or not, may have.
absl::StatusOr<std::set<std::string>> names_of_record(const Graph& graph,
                                                      const KeptFloat& keep_float);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_SCALE_GROUPS_H_
