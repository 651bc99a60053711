// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/owned_outputs.h"

#include <map>
#include <utility>
#include <vector>

#include "exir/ir/region_values.h"
#include "exir/memory/storage.h"
#include "exir/ops/handles.h"

namespace petrel::exir {
namespace {

// The emitter's own operator: passes never see it, and it is not a view, so that
// it is never elided.
const OpInfo& owned_copy_op() {
  static const OpInfo* const kOp = [] {
    auto* op = new OpInfo;
    op->name = "petrel::owned_copy";
    op->args.resize(2);
    op->args[0].name = "self";
    op->args[1].name = "size";
    op->args[1].kind = ArgKind::kInt;
    op->args[1].is_list = true;
    op->traits = kPure;
    op->out_name = "aten::view_copy";
    op->out_overload = "out";
    return op;
  }();
  return *kOp;
}

// The same for sizes that are known only when it runs.
const OpInfo& owned_clone_op() {
  static const OpInfo* const kOp = [] {
    auto* op = new OpInfo;
    op->name = "petrel::owned_clone";
    op->args.resize(2);
    op->args[0].name = "self";
    op->args[1].name = "memory_format";
    op->args[1].kind = ArgKind::kMemoryFormat;
    op->args[1].is_optional = true;
    op->traits = kPure;
    op->out_name = "aten::clone";
    op->out_overload = "out";
    return op;
  }();
  return *kOp;
}

Value* append_copy(Graph& graph, Value* value) {
  if (value->type().is_dynamic()) {
    return graph
        .append(owned_clone_op(), {Argument(value), Argument()}, {value->type()},
                value->name() + "_copy")
        ->result();
  }
  return graph
      .append(owned_copy_op(), {Argument(value), Argument(value->tensor().sizes)}, {value->type()},
              value->name() + "_copy")
      ->result();
}

// A region writes its outputs where its node has its results, so each must be
// made there, once, by an instruction.
void own_region_outputs(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    for (const std::shared_ptr<Graph>& region : node->regions()) {
      own_region_outputs(*region);
      std::vector<Value*> outputs = region->outputs();
      for (Value*& output : outputs) {
        if (!output->type().is_tensor()) continue;
        const Node* producer = output->producer();
        const bool is_own = producer != nullptr && output->output_uses() == 1 &&
                            !is_loop(*producer) && !keeps_elements_in_order(*producer);
        if (!is_own) output = append_copy(*region, output);
      }
      region->set_outputs(std::move(outputs));
    }
  }
}

void copy_views_of_external_constants(Graph& graph, const ExternalFn& is_external) {
  for (Node* node : graph.node_pointers()) {
    if (!keeps_elements_in_order(*node)) continue;
    Value* base = node->arguments()[0].value();
    if (!base->is_constant() || !is_external(*base->constant())) continue;
    Value* result = node->result();
    Node* copy = graph.insert_before(node, owned_copy_op(),
                                     {Argument(base), Argument(result->tensor().sizes)},
                                     {result->type()}, result->name());
    graph.replace_all_uses(result, copy->result());
    graph.erase(node);
  }
}

}  // namespace

Node* insert_copy_before(Graph& graph, Node* position, Value* value) {
  return graph.insert_before(position, owned_copy_op(),
                             {Argument(value), Argument(value->tensor().sizes)}, {value->type()},
                             value->name() + "_copy");
}

std::unique_ptr<Graph> with_owned_outputs(const Graph& original, const ExternalFn& is_external) {
  std::unique_ptr<Graph> graph = original.clone();
  for (Graph* each : with_regions(*graph)) {
    copy_views_of_external_constants(*each, is_external);
  }
  own_region_outputs(*graph);

  std::map<Value*, Value*> copies;
  const auto copy_of = [&](Value* value) {
    Value*& copy = copies[value];
    if (copy == nullptr) copy = append_copy(*graph, value);
    return copy;
  };
  // Appended copies are roots of their own, so the analysis stays right.
  const Storage storage(*graph);

  std::vector<Value*> outputs = graph->outputs();
  for (Value*& output : outputs) {
    const Value* root = storage.root(output);
    if (output->type().is_tensor() && root->producer() == nullptr) {
      output = copy_of(output);
    }
  }
  std::vector<BufferWrite> writes;
  for (BufferWrite write : graph->buffer_writes()) {
    const Value* root = storage.root(write.value);
    if (root != write.buffer && root->is_constant() && root->constant()->is_mutable()) {
      write.value = copy_of(write.value);
    }
    writes.push_back(write);
  }
  graph->set_outputs(std::move(outputs));
  graph->set_buffer_writes(std::move(writes));
  return graph;
}

}  // namespace petrel::exir
