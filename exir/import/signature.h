// SPDX-License-Identifier: Apache-2.0
//
// What the inputs and outputs of an exported graph stand for.
//
//   graph.inputs    p_conv_weight  b_scale  c_lifted_tensor_0  x       3
//   input_specs     parameter      buffer   tensor_constant    user    literal
//                   "conv.weight"  "scale"  "lifted_tensor_0"
//
//   graph.outputs   add              copy                 linear       None         sym_size
//   output_specs    buffer_mutation  user_input_mutation  user_output  user_output  user_output
//                   "steps"          "cache"              kUser        kFixed       kNumber
//
// Tokens, of which an archive may have one for its effects, are no values.
//
// An input that is written becomes an output, before those that forward()
// returns, as in ExecuTorch; the tensor of the caller stays as it was.
#ifndef PETREL_EXIR_IMPORT_SIGNATURE_H_
#define PETREL_EXIR_IMPORT_SIGNATURE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/import/json.h"
#include "exir/ir/argument.h"
#include "exir/ir/program.h"

namespace petrel::exir {

struct InputSpec {
  enum class Kind { kParameter, kBuffer, kTensorConstant, kUser, kLiteral, kToken };

  Kind kind = Kind::kUser;
  std::string value;       // name in the graph; of a literal, its own name
  std::string fqn;         // of a parameter, buffer or constant
  bool persistent = true;  // of a buffer: it lies with the weights
};

struct OutputSpec {
  enum class Kind { kUser, kFixed, kNumber, kStateWrite, kInputWrite, kToken };

  Kind kind = Kind::kUser;
  std::string value;  // name in the graph; of a fixed one, "output_PLACE"
  Argument fixed;     // none, or a number or string that does not depend on inputs
  std::string fqn;    // of the buffer or parameter that is written
  std::string input;  // that is written, its name in the graph

  // forward() returns it.
  bool is_returned() const {
    return kind == Kind::kUser || kind == Kind::kFixed || kind == Kind::kNumber;
  }
};

struct GraphIo {
  std::vector<InputSpec> inputs;    // one per graph input
  std::vector<OutputSpec> outputs;  // one per graph output
};

// Refuses what a program cannot express, by name: custom objects,
// inputs that are numbers, gradients.
absl::StatusOr<GraphIo> read_graph_io(const Json& graph_module);

// Names and pytree specs of the user inputs and outputs. Input names are those
// of forward() where each argument is one tensor, else those of the graph;
// output names are the keys of a returned dict, else those of the graph; of an
// input that is written, that of the input.
absl::StatusOr<Signature> read_signature(const Json& graph_module, const GraphIo& io);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_SIGNATURE_H_
