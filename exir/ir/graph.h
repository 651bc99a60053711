// SPDX-License-Identifier: Apache-2.0
//
// The IR of one method: a straight list of nodes in SSA form.
//
//   method @forward(%x: f32[1,1,8,8]) {
//     %w = constant @conv.weight : f32[16,1,3,3]
//     %conv2d = aten.conv2d.default(%x, %w, none, [1,1], [1,1], [1,1], 1)
//         : f32[1,16,8,8]
//     %relu = aten.relu.default(%conv2d) : f32[1,16,8,8]
//     return %relu
//   }
//
// A Value is a method input, a constant, or a result of a Node. Nodes are in
// topological order; every Value knows its users. The Graph owns all of them:
// pointers stay valid until erased. Names of values are unique in a graph.
//
//   Value* y = graph.append(op_add, {Argument(a), Argument(b), Argument(int64_t{1})},
//                           {type}, "add")->result(0);
//   graph.replace_all_uses(old, y);
//   graph.erase(old->producer());
//
// Edits keep the use lists right and are counted; the verifier
// (exir/ir/verifier.h) checks all else after every pass that made some.
#ifndef PETREL_EXIR_IR_GRAPH_H_
#define PETREL_EXIR_IR_GRAPH_H_

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/types/span.h"
#include "exir/ir/argument.h"
#include "exir/ir/constant.h"
#include "exir/ir/op.h"
#include "exir/ir/type.h"

namespace petrel::exir {

class Graph;
class Node;
struct LoweredPartition;  // exir/backend/backend.h

// Where a node comes from in the user's model; all fields may be empty.
struct Source {
  std::string stack_trace;  // as recorded by torch.export
  std::string module;       // "features.0.1" (torchvision...Conv2d)

  // "model.py:12, in forward": the innermost frame outside of torch, else the
  // innermost one, else the module, else "".
  std::string location() const;
};

class Value {
 public:
  const std::string& name() const { return name_; }
  const Type& type() const { return type_; }
  const TensorType& tensor() const { return type_.tensor; }
  void set_type(Type type);

  bool is_input() const { return producer_ == nullptr && constant_ == nullptr; }
  bool is_constant() const { return constant_ != nullptr; }
  const ConstantPtr& constant() const { return constant_; }

  // Null for inputs and constants.
  Node* producer() const { return producer_; }
  size_t result_index() const { return result_index_; }

  // One entry per use by a node (a node that uses it twice appears twice), in
  // the order the uses were made. Graph outputs are counted apart.
  const std::vector<Node*>& users() const { return users_; }
  int output_uses() const { return output_uses_; }
  bool is_used() const { return !users_.empty() || output_uses_ > 0; }
  // Exactly one use in all, and that by a node.
  bool has_single_user() const { return users_.size() == 1 && output_uses_ == 0; }

 private:
  friend class Graph;
  friend class Node;
  std::string name_;
  Type type_;
  ConstantPtr constant_;
  Graph* graph_ = nullptr;  // null when no graph owns it
  Node* producer_ = nullptr;
  size_t result_index_ = 0;
  std::vector<Node*> users_;
  int output_uses_ = 0;
  std::list<std::unique_ptr<Value>>::iterator place_;  // of inputs and constants
};

class Node {
 public:
  const OpInfo& op() const { return *op_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  void set_argument(size_t i, Argument argument);

  // node.is(aten::add_Tensor, aten::add_Scalar): the operator is one of these.
  template <typename... Handles>
  bool is(Handles... handles) const {
    return op_->is(handles...);
  }
  // node.argument(arg::input, arg::self): the argument of the first of these
  // names that the schema has. Precondition: it has one of them.
  template <typename... More>
  const Argument& argument(ArgHandle first, More... more) const {
    if constexpr (sizeof...(more) > 0) {
      if (op_->find_arg(first) < 0) return argument(more...);
    }
    return argument_of(first);
  }
  // The value in that argument. Precondition: it holds one.
  template <typename... Names>
  Value* input(Names... names) const {
    return argument(names...).value();
  }

  size_t num_results() const { return results_.size(); }
  Value* result(size_t i = 0) const { return results_[i].get(); }

  // Every value argument, lists included, in order, with repetitions.
  std::vector<Value*> operands() const;

  Graph& graph() const { return *graph_; }
  const Source& source() const { return source_; }

  // The branches of petrel::cond, or the condition and body of a loop: graphs of
  // their own that see nothing of this one but what exir/ir/region_values.h says.
  // Empty for all other operators.
  const std::vector<std::shared_ptr<Graph>>& regions() const { return regions_; }
  void set_regions(std::vector<std::shared_ptr<Graph>> regions);

  // The operator is kRandom, or one in a region is.
  bool is_random() const;
  // Has no effect but its results; regions included.
  bool is_pure() const { return op_->has(kPure) && !is_random(); }

  // Set on nodes of the operator petrel::delegate_call only.
  const std::shared_ptr<LoweredPartition>& delegate() const { return delegate_; }
  void set_delegate(std::shared_ptr<LoweredPartition> delegate);

  // "node 'conv2d_3' (aten.conv2d.default) at model.py:12, in forward": the
  // opening of every error about a node.
  std::string describe() const;

 private:
  friend class Graph;
  const Argument& argument_of(ArgHandle name) const;

  const OpInfo* op_ = nullptr;
  Graph* graph_ = nullptr;  // null when no graph owns it
  std::vector<Argument> arguments_;
  std::vector<std::unique_ptr<Value>> results_;
  Source source_;
  std::shared_ptr<LoweredPartition> delegate_;
  std::vector<std::shared_ptr<Graph>> regions_;
  std::list<std::unique_ptr<Node>>::iterator place_;
};

// What Node::describe says of a node with this name, operator and source.
std::string describe_node(const std::string& name, const OpInfo& op, const Source& source);

// A write-back at the end of the method: `buffer` (a constant of kind
// kMutableBuffer) takes the value of `value`.
struct BufferWrite {
  Value* buffer;
  Value* value;
};

class Graph {
 public:
  using NodeList = std::list<std::unique_ptr<Node>>;

  explicit Graph(std::string name) : name_(std::move(name)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const std::string& name() const { return name_; }

  // `name` is made unique by a suffix where it is taken.
  Value* add_input(Type type, const std::string& name);
  // The Value of `constant`; the same one for the same pointer.
  Value* add_constant(ConstantPtr constant);

  Node* append(const OpInfo& op, std::vector<Argument> arguments, std::vector<Type> result_types,
               const std::string& name, Source source = {});
  // As append, but before `position` and with its source.
  Node* insert_before(Node* position, const OpInfo& op, std::vector<Argument> arguments,
                      std::vector<Type> result_types, const std::string& name);
  // As append, directly behind `position` and with its source.
  Node* insert_after(Node* position, const OpInfo& op, std::vector<Argument> arguments,
                     std::vector<Type> result_types, const std::string& name);

  void move_before(Node* node, Node* position);

  // Precondition: no result is used.
  void erase(Node* node);
  // Precondition: not used.
  void erase_constant(Value* constant);

  // Precondition: not used.
  void erase_input(Value* input);

  // Gives `value` another name, made unique by a suffix where it is taken.
  void rename(Value* value, const std::string& name);

  // Uses by nodes, by the outputs and by buffer writes.
  void replace_all_uses(Value* from, Value* to);

  void set_outputs(std::vector<Value*> outputs);
  void set_buffer_writes(std::vector<BufferWrite> writes);

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  const std::vector<BufferWrite>& buffer_writes() const { return buffer_writes_; }
  const NodeList& nodes() const { return nodes_; }
  // The node after `node`; null behind the last.
  Node* next(const Node* node) const;
  // The node before `node`; null before the first.
  Node* previous(const Node* node) const;
  // Whether a node has an operator of which `wanted` holds. Asked of the operators,
  // not of the nodes: a pass that looks for what is not there need not look at all.
  template <typename Predicate>
  bool any_operator(Predicate wanted) const {
    return std::any_of(nodes_by_operator_.begin(), nodes_by_operator_.end(),
                       [&](const auto& entry) { return wanted(*entry.first); });
  }
  // Nodes that have regions.
  size_t nodes_with_regions() const { return nodes_with_regions_; }
  // Grows with every change of the graph, its nodes or its values; not with those of
  // regions, which are graphs of their own.
  uint64_t edits() const { return edits_; }
  // A copy of the pointers, safe to edit under.
  std::vector<Node*> node_pointers() const;
  // In the order they were added.
  std::vector<Value*> constants() const;
  // The newest constant of that FQN; null if there is none.
  Value* find_constant(const std::string& fqn) const;

  // A deep copy, regions included; constants are shared by pointer. `out_map`, if given, maps
  // every value of this graph to its copy.
  std::unique_ptr<Graph> clone(std::map<const Value*, Value*>* out_map = nullptr) const;

 private:
  friend class Node;
  friend class Value;
  std::string unique_name(const std::string& wanted);
  Node* insert(NodeList::iterator place, const OpInfo& op, std::vector<Argument> arguments,
               std::vector<Type> result_types, const std::string& name, Source source);
  Value* own(std::unique_ptr<Value> value);
  void count_outputs(int delta);

  std::string name_;
  std::list<std::unique_ptr<Value>> owned_values_;  // inputs and constants
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
  std::vector<BufferWrite> buffer_writes_;
  NodeList nodes_;
  std::map<std::string, int> names_;  // name -> next suffix
  std::map<const Constant*, Value*> constant_values_;
  std::unordered_map<std::string, std::vector<Value*>> constants_by_fqn_;  // newest last
  std::unordered_map<const OpInfo*, size_t> nodes_by_operator_;            // none is 0
  size_t nodes_with_regions_ = 0;
  uint64_t edits_ = 0;
};

// `graph` and the regions of its nodes, at any depth; outer ones first.
std::vector<Graph*> with_regions(Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_GRAPH_H_
