// SPDX-License-Identifier: Apache-2.0
//
// Reads the nodes of an exported graph into the IR. Every result type is
// inferred by the operator table and compared with what the exporter recorded.
// Regions under torch.no_grad() and switched-off autocast are inlined; integers
// that the exporter knew are replaced by their values. The graphs of cond and map
// become regions (control_flow.cc).
//
//   GraphReader reader(&graph, &symbols);
//   reader.bind("x", Argument(graph.add_input(type, "x")));
//   reader.bind_lazily("p_weight", [&] { ... });    // made at its first use
//   PETREL_RETURN_IF_ERROR(reader.read(graph_json));
//   PETREL_ASSIGN_OR_RETURN(Value* y, reader.value("linear"));
#ifndef PETREL_EXIR_IMPORT_GRAPH_READER_H_
#define PETREL_EXIR_IMPORT_GRAPH_READER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/import/argument_reader.h"
#include "exir/import/fourier.h"
#include "exir/import/json.h"
#include "exir/import/tensor_meta.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// {"name": NAME}
absl::StatusOr<std::string> name_in(const Json& holder);
// The names of the tensors that a node or region gives, in order; "" for a
// result that does not exist.
absl::StatusOr<std::vector<std::string>> output_names(const Json& holder);

class GraphReader {
 public:
  using MakeValue = std::function<absl::StatusOr<Value*>()>;

  // Both must outlive the reader.
  GraphReader(Graph* graph, const Symbols* symbols);

  void bind(const std::string& name, Argument argument);
  // `make` is called when the name is first looked up, or never.
  void bind_lazily(const std::string& name, MakeValue make);

  // InvalidArgument naming every operator that is not in the table with the
  // places that use it, or the first node that is wrong.
  absl::Status read(const Json& graph);

  absl::StatusOr<Value*> value(const std::string& name);
  // A scalar: a value, or a number where the exporter knew it.
  absl::StatusOr<Argument> number(const std::string& name);

 private:
  // Names of one graph; the graph of an inlined region has its own. Ordered: names of a
  // file could all have one place in a hash table.
  struct Scope {
    std::map<std::string, Argument> bound;
    std::map<std::string, MakeValue> lazy;
    std::map<std::string, Json> tensor_metas;
    std::set<std::string> complex_names;         // of tensors of complex numbers
    std::map<std::string, ComplexPair> complex;  // those that were made
    std::map<std::string, Json> scalars;         // symbolic int, float, bool
    std::set<std::string> ints;                  // those that are ints
    // Numbers that no operator of the table computes -> the node that would.
    std::map<std::string, std::string> unreadable;
  };

  // What a name stands for, to be handed into a region or out of it.
  struct Named {
    Argument argument;
    ComplexPair parts;  // of complex numbers; else null

    void bind_in(Scope* scope, const std::string& name) const;
  };

  // An error when the name has a meaning, also one that nothing has looked up yet.
  absl::Status define(const std::string& name, Named meaning);
  absl::Status read_metas(const Json& graph, Scope* scope);
  absl::Status read_nodes(const Json& graph);
  absl::Status read_node(const Json& node);
  absl::Status read_operator(const OpInfo& op, const Json& node, const Source& source,
                             const std::string& name);
  // A node that writes into its arguments `out` what `op` gives (out_calls.cc).
  absl::Status read_out_call(const OpInfo& op, const Json& node, const Source& source);
  absl::Status write_result(const Argument& place, Value* result, const std::string& name,
                            const Source& source);
  // Whether complex numbers are among the inputs or results of a node, and such a node
  // (complex_nodes.cc).
  absl::StatusOr<bool> is_of_complex(const OpInfo& op, const Json& node);
  absl::Status read_complex(const OpInfo& op, const Json& node, const Source& source);
  absl::StatusOr<Named> checked_parts(const std::string& name, const ComplexPair& parts);
  absl::StatusOr<ComplexPair> complex_parts(const std::string& name);
  absl::StatusOr<Named> named(const std::string& name);
  absl::Status check_strided_self(const Json& inputs, const std::vector<Argument>& arguments);
  absl::Status read_region(const Json& node, const std::string& target);
  absl::Status read_cond(const Json& node, const Source& source, const std::string& name);
  // A map or scan.
  absl::Status read_rows(const Json& node, OpHandle loop, const Source& source,
                         const std::string& name);
  // Its body, and what its node gives.
  absl::StatusOr<std::unique_ptr<Graph>> read_row_body(const std::string& name, const Json& graph,
                                                       const std::vector<Value*>& carried,
                                                       const std::vector<Value*>& rows,
                                                       const std::vector<Value*>& operands,
                                                       std::vector<Type>* results);
  absl::Status read_while_loop(const Json& node, const Source& source, const std::string& name);
  absl::StatusOr<std::vector<Value*>> region_operands(const Json& union_);
  absl::StatusOr<std::unique_ptr<Graph>> read_body(const std::string& name, const Json& graph,
                                                   const std::vector<Type>& types);
  absl::Status read_inner(const Json& graph);
  absl::StatusOr<bool> bind_known_scalars(const Json& node);
  absl::Status take_recorded_int(const std::string& name, Value* value);
  absl::Status bind_results(const Node& made, const Json& node);
  absl::Status take_recorded_sizes(const std::string& name, const TensorType& recorded,
                                   Value& value);
  // Operators with a size that depends on data (sizes_by_data.cc).
  absl::Status take_sizes_by_data(const std::string& name, Value& value);
  static bool is_made_of_others(const OpInfo& op);
  absl::Status read_made_of_others(const OpInfo& op, const Json& node, const Source& source);
  absl::StatusOr<Value*> appended(OpHandle handle, std::vector<Argument> arguments,
                                  const std::string& name, const Source& source);
  absl::StatusOr<Value*> sized_by_data(OpHandle handle, std::vector<Argument> arguments,
                                       const std::string& name, size_t dim, const Source& source);
  absl::StatusOr<Value*> repeated(const OpInfo& op, const std::vector<Argument>& arguments,
                                  const std::string& name, const Source& source);
  // Powers of numbers (powers.cc).
  absl::Status read_power(const Json& node, const Source& source, const std::string& name);
  absl::StatusOr<Value*> product_of(const Argument& base, int64_t factors, const std::string& name,
                                    const Source& source);
  absl::Status check_recorded(const std::string& name, Value& value);
  absl::StatusOr<Argument> lookup(const std::string& name);
  absl::StatusOr<Argument> known_scalar(const std::string& name);

  Graph* graph_;
  // Of names of regions, which are counted anew in each region.
  std::string region_prefix_;
  const Symbols* symbols_;
  ArgumentReader arguments_;
  // Which part of complex numbers a name stands for while their node is read.
  ArgumentReader::Part part_ = ArgumentReader::Part::kWhole;
  std::vector<Scope> scopes_;  // innermost last
};

// Gives the regions of `graph` the immutable constants among their operands as
// constants of their own.
void bind_region_constants(Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_GRAPH_READER_H_
