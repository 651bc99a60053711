// SPDX-License-Identifier: Apache-2.0
//
// What the compiler works on from import to emission: the methods by name.
// Methods imported from archives that share weights share Constants by pointer
// where they come from one archive, and by content when they are written.
#ifndef PETREL_EXIR_IR_PROGRAM_H_
#define PETREL_EXIR_IR_PROGRAM_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exir/ir/graph.h"

namespace petrel::exir {

// What callers see of a method beyond its graph, in the order of its inputs and
// outputs. Outputs that the graph has nothing to do with, None, numbers and
// strings, stand here:
//
//   return x, None, y, 3     graph.outputs()   x y
//                            fixed_outputs     1: none   3: 3
//
// A number that is computed at run time, as x.shape[0] + 1, is a tensor of no dims in
// the graph; callers see the number (exir/emit/number_outputs.h).
struct Signature {
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;     // of fixed ones too
  std::map<size_t, Argument> fixed_outputs;  // by place among all outputs
  std::set<size_t> number_outputs;           // places of those that callers see as numbers
  std::string in_spec;                       // pytree specs as the archive has them, opaque
  std::string out_spec;
};

struct Method {
  std::unique_ptr<Graph> graph;
  Signature signature;
};

struct Program {
  std::map<std::string, Method> methods;  // sorted by name, as they are written
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_PROGRAM_H_
