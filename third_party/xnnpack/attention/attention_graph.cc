// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/attention/attention_graph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

namespace petrel::third_party::xnnpack {
namespace {

// Cases come from our code.
void require(xnn_status status, const char* what) {
  if (status == xnn_status_success) return;
  std::fprintf(stderr, "XNNPACK refuses %s: status %d\n", what, static_cast<int>(status));
  std::abort();
}

xnn_binary_operator operator_of(petrel_attention_function function) {
  switch (function) {
    case petrel_attention_add:
      return xnn_binary_add;
    case petrel_attention_subtract:
      return xnn_binary_subtract;
    case petrel_attention_multiply:
      return xnn_binary_multiply;
    default:
      return xnn_binary_divide;
  }
}

petrel_attention_dims dims_of(const Dims& dims) {
  petrel_attention_dims result = {dims.size(), {}};
  std::copy(dims.begin(), dims.end(), result.sizes);
  return result;
}

}  // namespace

size_t count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), size_t{1}, std::multiplies<>());
}

Floats padded(Floats list) {
  list.resize(list.size() + XNN_EXTRA_BYTES);
  return list;
}

Floats random_floats(size_t size, float scale, std::mt19937* random) {
  std::uniform_real_distribution<float> range(-scale, scale);
  Floats list(size);
  for (float& x : list) x = range(*random);
  return padded(std::move(list));
}

AttentionGraph::AttentionGraph(const Case& of, pthreadpool_t pool) : case_(of), pool_(pool) {
  require(xnn_create_subgraph(4 + kMostOperands, 0, &graph_), "a subgraph");
  queries_ = external(of.query_dims(), XNN_VALUE_FLAG_EXTERNAL_INPUT);
  keys_ = external(of.key_dims(), XNN_VALUE_FLAG_EXTERNAL_INPUT);
  values_ = external(of.value_dims(), XNN_VALUE_FLAG_EXTERNAL_INPUT);
  for (const Step& step : of.steps) {
    operands_.push_back(step.is_constant
                            ? value(step.operand_dims, step.operand.data(), XNN_INVALID_VALUE_ID, 0)
                            : external(step.operand_dims, XNN_VALUE_FLAG_EXTERNAL_INPUT));
  }
  output_ = external(of.output_dims(), XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
}

AttentionGraph::~AttentionGraph() {
  xnn_delete_subgraph(graph_);
  if (runtime_ != nullptr) xnn_delete_runtime(runtime_);
}

void AttentionGraph::define_nodes() {
  const uint32_t queries = define_steps(petrel_attention_queries, queries_);
  uint32_t scores = inner(case_.matrices(case_.rows, case_.columns));
  define_product(queries, keys_, scores, case_.turns_keys);
  if (case_.is_joint) scores = reshape(scores, case_.score_dims());
  scores = define_steps(petrel_attention_scores, scores);
  uint32_t shares = inner(case_.score_dims());
  require(xnn_define_softmax(graph_, scores, shares, 0), "a softmax");
  shares = define_steps(petrel_attention_shares, shares);
  if (case_.is_joint) shares = reshape(shares, case_.matrices(case_.rows, case_.columns));
  define_product(shares, values_, output_, case_.turns_values);
  make();
}

void AttentionGraph::define_attention() {
  std::vector<uint32_t> inputs = {queries_, keys_, values_};
  program_.turns_keys = case_.turns_keys;
  program_.turns_values = case_.turns_values;
  program_.block_bytes = case_.block_bytes;
  for (size_t i = 0; i < case_.steps.size(); ++i) {
    const Step& from = case_.steps[i];
    petrel_attention_step& step = program_.steps[program_.num_steps++];
    step.stage = from.stage;
    step.function = from.function;
    step.operand_is_first = from.operand_is_first;
    step.has_range = from.has_range;
    step.min = from.min;
    step.max = from.max;
    if (case_.is_joint && from.stage != petrel_attention_queries) {
      step.view = dims_of(case_.score_dims());
    }
    if (from.is_constant) {
      step.constant = from.operand.data();
      step.constant_dims = dims_of(from.operand_dims);
    } else {
      step.input = static_cast<uint32_t>(inputs.size());
      inputs.push_back(operands_[i]);
    }
  }
  program_.num_inputs = static_cast<uint32_t>(inputs.size());
  require(petrel_define_attention(graph_, &program_, inputs.data(), output_), "attention");
  make();
}

Floats AttentionGraph::run() {
  require(xnn_reshape_runtime(runtime_), "the sizes");
  result_.assign(count(case_.output_dims()) + XNN_EXTRA_BYTES, 7);
  std::vector<xnn_external_value> ends = {{0, const_cast<float*>(case_.queries.data())},
                                          {1, const_cast<float*>(case_.keys.data())},
                                          {2, const_cast<float*>(case_.values.data())}};
  for (const Step& step : case_.steps) {
    if (step.is_constant) continue;
    ends.push_back({static_cast<uint32_t>(ends.size()), const_cast<float*>(step.operand.data())});
  }
  ends.push_back({static_cast<uint32_t>(ends.size()), result_.data()});
  require(xnn_setup_runtime_v2(runtime_, ends.size(), ends.data()), "the addresses");
  run_again();
  return result_;
}

void AttentionGraph::run_again() { require(xnn_invoke_runtime(runtime_), "to run"); }

xnn_status AttentionGraph::reshape_keys(const Dims& dims) {
  require(xnn_reshape_external_value(runtime_, 1, dims.size(), dims.data()), "dims");
  return xnn_reshape_runtime(runtime_);
}

uint32_t AttentionGraph::value(const Dims& dims, const void* data, uint32_t external_id,
                               uint32_t flags) {
  uint32_t id = 0;
  require(xnn_define_tensor_value(graph_, xnn_datatype_fp32, dims.size(), dims.data(), data,
                                  external_id, flags, &id),
          "a value");
  return id;
}

uint32_t AttentionGraph::external(const Dims& dims, uint32_t flags) {
  return value(dims, nullptr, num_externals_++, flags);
}

uint32_t AttentionGraph::inner(const Dims& dims) {
  return value(dims, nullptr, XNN_INVALID_VALUE_ID, 0);
}

void AttentionGraph::define_product(uint32_t a, uint32_t b, uint32_t y, bool is_turned) {
  const uint32_t flags = is_turned ? XNN_FLAG_TRANSPOSE_B : 0;
  require(xnn_define_batch_matrix_multiply(graph_, a, b, y, flags), "a product");
}

uint32_t AttentionGraph::reshape(uint32_t id, const Dims& dims) {
  const uint32_t result = inner(dims);
  require(xnn_define_static_reshape(graph_, dims.size(), dims.data(), id, result, 0), "a reshape");
  return result;
}

uint32_t AttentionGraph::define_steps(petrel_attention_stage stage, uint32_t id) {
  for (size_t i = 0; i < case_.steps.size(); ++i) {
    const Step& step = case_.steps[i];
    if (step.stage != stage) continue;
    const bool is_of_queries = stage == petrel_attention_queries;
    const uint32_t result = inner(is_of_queries ? case_.query_dims() : case_.score_dims());
    const xnn_binary_params range = {step.min, step.max};
    require(xnn_define_binary(graph_, operator_of(step.function), step.has_range ? &range : nullptr,
                              step.operand_is_first ? operands_[i] : id,
                              step.operand_is_first ? id : operands_[i], result, 0),
            "a step");
    id = result;
  }
  return id;
}

void AttentionGraph::make() {
  require(xnn_create_runtime_v4(graph_, nullptr, nullptr, pool_, 0, &runtime_), "a runtime");
}

}  // namespace petrel::third_party::xnnpack
