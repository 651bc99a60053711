// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/delegate.h"

#include <petrel/packing.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "backends/xnnpack/format/dead_nodes.h"
#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/live_bytes.h"
#include "backends/xnnpack/format/operator_bytes.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "backends/xnnpack/format/shape_rules.h"
#include "backends/xnnpack/format/simplify.h"
#include "backends/xnnpack/format/split_products.h"
#include "backends/xnnpack/format/structure_bytes.h"
#include "backends/xnnpack/format/winograd.h"
#include "backends/xnnpack/format/work.h"
#include "backends/xnnpack/runtime/arguments.h"
#include "backends/xnnpack/runtime/joined_norms.h"
#include "backends/xnnpack/runtime/machine_needs.h"
#include "backends/xnnpack/runtime/paid_call.h"
#include "backends/xnnpack/runtime/start.h"
#include "backends/xnnpack/runtime/status.h"
#include "backends/xnnpack/runtime/touch.h"
#include "backends/xnnpack/runtime/ways.h"
#include "third_party/xnnpack/lanes/lanes.h"

namespace petrel::backends::xnnpack {
namespace {

// About 20 microseconds of one core. Below that waking threads costs more than they bring.
constexpr uint64_t kMinMultiplyAddsForThreads = 400'000;

// What loading takes in bytes of packed weights, each of which takes about half a nanosecond:
// reading a node and making its operator takes four microseconds and more, finding places for its
// values a tenth of that.
constexpr uint64_t kBytesPerNode = 8'000;
constexpr uint64_t kLeastRoom = 16 << 20;  // of any graph

using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;
using runtime::Tensor;

Error report(const Problem& problem) {
  if (problem.ok()) return Error::Ok;
  PETREL_LOG(Error, "XNNPACK payload: %s", problem.text().c_str());
  return problem.kind() == Problem::Kind::kUnsupported ? Error::NotSupported
                                                       : Error::InvalidProgram;
}

Error report(const char* what, xnn_status status) {
  if (status == xnn_status_success) return Error::Ok;
  PETREL_LOG(Error, "XNNPACK cannot %s: status %d", what, static_cast<int>(status));
  return error_of(status, Error::Internal);
}

bool is_empty(const Dims& dims) { return std::count(dims.begin(), dims.end(), 0u) > 0; }

// What XNNPACK adds at most to values and scratch for their alignment.
uint64_t rounding_bytes(const Graph& graph) {
  constexpr uint64_t kOfOne = 256;
  return kOfOne * (graph.values.size() + 2 * graph.nodes.size() + 1);
}

// What was paid for before XNNPACK is called, but for values between nodes.
uint64_t counted_bytes(const Graph& graph) {
  constexpr uint64_t kOfAny = 64 << 10;
  return runtime::saturating_sum(kept_bytes(graph), structure_bytes(graph) + kOfAny);
}

Error pay_for_structure(const Delegate::Options& options, uint64_t bytes) {
  if (options.memory == nullptr) return Error::Ok;
  return options.memory->take("the values and nodes of an XNNPACK payload", bytes);
}

}  // namespace

Result<std::unique_ptr<Delegate>> Delegate::create(const void* payload, size_t size,
                                                   const runtime::NamedDataMap* map,
                                                   const Options& options) {
  Graph graph;
  Error paid = Error::Ok;
  const auto may_take = [&](uint64_t bytes) {
    paid = pay_for_structure(options, bytes);
    return paid == Error::Ok;
  };
  const Problem problem =
      read_payload(static_cast<const uint8_t*>(payload), size, &graph, may_take);
  PETREL_RETURN_IF_ERROR(paid);
  PETREL_RETURN_IF_ERROR(report(problem));
  return create_paid(std::move(graph), size, map, options);
}

Result<std::unique_ptr<Delegate>> Delegate::create(Graph given, size_t payload_bytes,
                                                   const runtime::NamedDataMap* map,
                                                   const Options& options) {
  PETREL_RETURN_IF_ERROR(pay_for_structure(
      options, structure_bytes(given.values.size(), given.nodes.size(), given.constants.size())));
  return create_paid(std::move(given), payload_bytes, map, options);
}

Result<std::unique_ptr<Delegate>> Delegate::create_paid(Graph given, size_t payload_bytes,
                                                        const runtime::NamedDataMap* map,
                                                        const Options& options) {
  std::unique_ptr<Delegate> delegate(new Delegate);
  Graph& graph = delegate->graph_;
  graph = std::move(given);
  PETREL_RETURN_IF_ERROR(report(check_implemented(graph)));
  PETREL_RETURN_IF_ERROR(report(check_graph(graph)));
  PETREL_RETURN_IF_ERROR(check_machine(graph));
  remove_dead_nodes(&graph);
  const uint64_t before =
      structure_bytes(graph.values.size(), graph.nodes.size(), graph.constants.size());
  simplify(&graph, options.sizes_are_fixed, runtime::thread_count());
  join_norms(&graph, map, options.sizes_are_fixed);
  const uint64_t after = structure_bytes(graph);
  if (after > before) PETREL_RETURN_IF_ERROR(pay_for_structure(options, after - before));
  PETREL_RETURN_IF_ERROR(report("start", start_xnnpack()));
  PETREL_RETURN_IF_ERROR(delegate->build(map, options, payload_bytes));
  // The payload may go.
  graph.constants.clear();
  graph.storage.reset();
  return delegate;
}

Delegate::~Delegate() {
  if (packed_file_ != nullptr) packed_file_->write();
  if (runtime_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(workspace_->mutex());
  xnn_delete_runtime(runtime_);
}

// Delegates that share a workspace use its memory one after the other.
Error Delegate::take_values(const Options& options) {
  workspace_ = options.workspace_owner == nullptr ? Workspace::make()
                                                  : Workspace::of(options.workspace_owner);
  if (workspace_ == nullptr) {
    PETREL_LOG(Error, "no memory for a workspace");
    return Error::DelegateMemoryAllocationFailed;
  }
  return pay_for_sizes(options.memory);
}

// For what XNNPACK takes for the sizes that values have now.
Error Delegate::pay_for_sizes(runtime::Budget* memory) {
  if (memory == nullptr) return Error::Ok;
  const uint64_t kept = kept_bytes(graph_);
  if (kept > paid_kept_bytes_) {
    PETREL_RETURN_IF_ERROR(
        memory->take("what operators of an XNNPACK payload keep", kept - paid_kept_bytes_));
    paid_kept_bytes_ = kept;
  }
  return workspace_->grow_to(
      runtime::saturating_sum(peak_workspace_bytes(graph_), cells_.more_bytes), memory);
}

Error Delegate::build(const runtime::NamedDataMap* map, const Options& options,
                      size_t payload_bytes) {
  for (uint32_t id = 0; id < graph_.values.size(); ++id) {
    if (graph_.values[id].is_input()) inputs_.push_back(External{id});
    if (graph_.values[id].is_output()) outputs_.push_back(External{id});
  }
  const auto is_read = read_values(graph_);
  for (External& output : outputs_) output.is_read = is_read[output.value];
  for (std::vector<External>* list : {&inputs_, &outputs_}) {
    std::sort(list->begin(), list->end(), [this](const External& a, const External& b) {
      return graph_.values[a.value].external_id < graph_.values[b.value].external_id;
    });
  }
  multiply_adds_ = count_multiply_adds(graph_);
  if (multiply_adds_ >= kMinMultiplyAddsForThreads) thread_pool_ = runtime::shared_thread_pool();
  shares_nodes_ = gains_by_threads(graph_);
  const pthreadpool_t pool = shares_nodes_ ? thread_pool_.get() : nullptr;
  const auto threads = static_cast<uint32_t>(pthreadpool_get_threads_count(pool));
  have_fixed_sizes_ = options.sizes_are_fixed;
  if (have_fixed_sizes_) cells_ = find_cells(graph_);
  ConstantSource constants(graph_, map);
  // A file of packed weights has all of them, so that nothing else is read.
  const bool unpacked = options.unpacked && options.packed_file == nullptr;
  choose_ways(&graph_, constants, threads,
              {options.winograd, options.fast_math, unpacked, options.cache_bytes});
  PETREL_RETURN_IF_ERROR(take_values(options));
  WeightFeed feed(graph_, &constants, options.share_weights ? &weights_ : nullptr);
  ConstantForms forms(options.memory, payload_bytes);
  PETREL_ASSIGN_OR_RETURN(const Subgraph subgraph,
                          make_subgraph(graph_, cells_, constants, &forms, &kept_, &feed));
  PETREL_RETURN_IF_ERROR(make_runtime(subgraph.get(), options, feed));
  // Giving others back may have taken their pages along.
  for (const runtime::FreeableBuffer& weights : kept_.in_place) {
    touch_to_read(weights.data(), weights.size());
  }
  return prepare_first_run(options.memory);
}

// A first run takes longer than later ones by pointers that are computed for the sizes, by what
// operators are told, and by pages that are written for the first time. What loading does of that
// takes as long as there, or less, for it asks for pages together. Yet a call may have smaller
// sizes than those of the graph, and then needs less: so much is done as takes no longer than the
// rest of loading, and a few milliseconds more.
Error Delegate::prepare_first_run(runtime::Budget* memory) {
  const uint64_t room = runtime::saturating_sum(
      weights_.packed_bytes() + kBytesPerNode * graph_.nodes.size() + kLeastRoom,
      own_packed_bytes(graph_));
  const uint64_t kept = kept_bytes(graph_);
  if (kept > room) return Error::Ok;
  for (const External& input : inputs_) {
    if (is_empty(graph_.values[input.value].dims)) return Error::Ok;
  }
  const std::lock_guard<std::mutex> lock(workspace_->mutex());
  const Error error = reshape(memory);
  if (is_half_made_ || error == Error::OutOfResources) return error;
  // What else fails here fails in the first run again, if that has the same sizes.
  if (error != Error::Ok) return Error::Ok;
  is_shaped_ = true;
  // A run tells operators that have inputs or outputs of the graph where those are.
  alignas(64) static char placeholder[64];
  PETREL_RETURN_IF_ERROR(set_up(placeholder));
  workspace_->touch(room - kept, thread_pool_.get());
  return Error::Ok;
}

Error Delegate::make_runtime(xnn_subgraph_t subgraph, const Options& options,
                             const WeightFeed& feed) {
  const bool share_weights = options.share_weights;
  if (share_weights) {
    const uint64_t more_bytes = count_winograd_bytes(graph_) + count_split_bytes(graph_);
    weights_.begin(count_filter_bytes(graph_) + more_bytes, feed.filter_bytes(), options.huge_pages,
                   options.memory, {options.packed_file, options.verify_packed});
  }
  const std::lock_guard<std::mutex> lock(workspace_->mutex());
  xnn_set_packing_threads(thread_pool_.get());
  xnn_set_late_data(feed.hooks());
  // Without a session operators pack filters for themselves.
  const uint64_t filters = share_weights ? 0 : WeightSession::free_bytes(feed.filter_bytes());
  bool was_refused = false;
  xnn_status status = xnn_status_success;
  {
    PaidCall call(runtime::saturating_sum(counted_bytes(graph_), filters), options.memory);
    status = xnn_create_runtime_v4(subgraph, share_weights ? weights_.provider() : nullptr,
                                   workspace_->get(), thread_pool_.get(),
                                   shares_nodes_ ? 0 : PETREL_FLAG_SHARE_LANES_ALONE, &runtime_);
    was_refused = call.was_refused();
  }
  xnn_set_late_data(nullptr);
  xnn_set_packing_threads(nullptr);
  if (feed.error() != Error::Ok) return feed.error();
  if (weights_.over_budget() || was_refused) return Error::OutOfResources;
  PETREL_RETURN_IF_ERROR(report("make a runtime", status));
  if (weights_.failed()) {
    PETREL_LOG(Error, "the packed weights of the delegate cannot be kept");
    return Error::Internal;
  }
  weights_.end();
  packed_file_ = options.packed_file;
  return Error::Ok;
}

Error Delegate::execute(const runtime::BackendExecutionContext& context, Span<EValue*> args) {
  if (args.size() != inputs_.size() + outputs_.size()) {
    PETREL_LOG(Error, "the delegate got %zu arguments, must have %zu", args.size(),
               inputs_.size() + outputs_.size());
    return Error::InvalidArgument;
  }
  if (packed_file_ != nullptr) {
    packed_file_->write();
    packed_file_.reset();
  }
  if (context.work() != nullptr) {
    PETREL_RETURN_IF_ERROR(context.work()->take("an XNNPACK payload", count_call_work(graph_)));
  }
  if (is_half_made_) {
    PETREL_LOG(Error,
               "an earlier call of this XNNPACK payload failed on its way to other sizes: the "
               "method must be loaded again");
    return Error::InvalidState;
  }
  bool needs_reshape = !is_shaped_;
  bool needs_setup = false;
  // Until all went well nothing may be taken as set up.
  is_shaped_ = false;
  PETREL_RETURN_IF_ERROR(bind_inputs(context, args, &needs_reshape, &needs_setup));
  for (const External& input : inputs_) {
    if (is_empty(graph_.values[input.value].dims)) return make_empty(args);
  }
  if (needs_reshape && context.work() != nullptr) {
    PETREL_RETURN_IF_ERROR(
        context.work()->take("planning an XNNPACK payload", count_planning_steps(graph_)));
  }
  if (needs_reshape) PETREL_RETURN_IF_ERROR(infer_dims(context));
  if (context.work() != nullptr) {
    PETREL_RETURN_IF_ERROR(context.work()->take("an XNNPACK payload", multiply_adds_));
  }
  PETREL_RETURN_IF_ERROR(bind_outputs(context, args, &needs_setup));
  const std::lock_guard<std::mutex> lock(workspace_->mutex());
  if (needs_reshape) {
    step_events_.forget_names();
    PETREL_RETURN_IF_ERROR(reshape(context.memory()));
  }
  if (needs_reshape || needs_setup) PETREL_RETURN_IF_ERROR(set_up(nullptr));
  is_shaped_ = true;
  PETREL_RETURN_IF_ERROR(report("run", step_events_.invoke(runtime_, context.event_tracer())));
  for (const External& output : outputs_) {
    if (output.unstaged == nullptr) continue;
    std::memcpy(output.unstaged, output.data, output.nbytes);
  }
  for (const External& output : outputs_) {
    if (output.levels != nullptr) raise_levels(output.levels, output.nbytes);
  }
  return Error::Ok;
}

Error Delegate::bind_inputs(const runtime::BackendExecutionContext& context, Span<EValue*> args,
                            bool* reshape, bool* setup) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    External& input = inputs_[i];
    Dims& dims = graph_.values[input.value].dims;
    PETREL_ASSIGN_OR_RETURN(const Tensor tensor,
                            tensor_argument(args, i, graph_.values[input.value], false));
    for (size_t place = 0; place < dims.size(); ++place) {
      const auto size =
          tensor.dim() == 0 ? 1u : static_cast<uint32_t>(tensor.size(axis_at(tensor, place)));
      if (dims[place] != size && have_fixed_sizes_) {
        PETREL_LOG(Error, "argument %zu has size %u in dim %zu, must have %u: sizes are fixed", i,
                   size, place, dims[place]);
        return Error::InvalidArgument;
      }
      if (dims[place] != size) *reshape = true;
      dims[place] = size;
    }
    if (is_empty(dims)) continue;
    if (*reshape) {
      if (const Problem problem = check_dims(dims); !problem.ok()) {
        PETREL_LOG(Error, "argument %zu: %s", i, problem.text().c_str());
        return Error::InvalidArgument;
      }
    }
    const void* data = tensor.const_data_ptr();
    if (data == nullptr) {
      PETREL_LOG(Error, "argument %zu has no data", i);
      return Error::InvalidArgument;
    }
    const size_t nbytes = tensor.nbytes();
    if (is_unsigned(tensor, graph_.values[input.value])) {
      PETREL_RETURN_IF_ERROR(check_levels(data, nbytes, i));
    }
    if (!may_over_read(context, data, nbytes)) {
      PETREL_RETURN_IF_ERROR(reserve_staging(context, i, nbytes, &input.staging));
      std::memcpy(input.staging.data(), data, nbytes);
      data = input.staging.data();
    }
    if (input.data != data) *setup = true;
    input.data = data;
  }
  return Error::Ok;
}

// The dims of all values from those of the inputs.
Error Delegate::infer_dims(const runtime::BackendExecutionContext& context) {
  for (const Node& node : graph_.nodes) {
    std::vector<const Dims*> in;
    for (const uint32_t id : node.inputs) {
      in.push_back(id == kNoId ? nullptr : &graph_.values[id].dims);
    }
    Dims dims;
    if (const Problem problem = infer_output_dims(node, in, &dims); !problem.ok()) {
      PETREL_LOG(Error, "the sizes of the inputs do not fit: %s", problem.text().c_str());
      return Error::InvalidArgument;
    }
    for (const uint32_t id : node.outputs) graph_.values[id].dims = dims;
  }
  multiply_adds_ = count_multiply_adds(graph_);
  const uint64_t peak = peak_live_bytes(graph_);
  if (peak > kMaxValueBytes) {
    PETREL_LOG(Error, "inputs of these sizes need %llu bytes, the limit is %llu",
               static_cast<unsigned long long>(peak),
               static_cast<unsigned long long>(kMaxValueBytes));
    return Error::OutOfResources;
  }
  return pay_for_sizes(context.memory());
}

Error Delegate::bind_outputs(const runtime::BackendExecutionContext& context, Span<EValue*> args,
                             bool* setup) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    External& output = outputs_[i];
    const size_t index = inputs_.size() + i;
    const Dims& dims = graph_.values[output.value].dims;
    PETREL_ASSIGN_OR_RETURN(const Tensor tensor,
                            tensor_argument(args, index, graph_.values[output.value], true));
    PETREL_RETURN_IF_ERROR(resize_output(tensor, index, dims));
    void* data = tensor.mutable_data_ptr();
    output.nbytes = tensor.nbytes();
    const bool has_unsigned = is_unsigned(tensor, graph_.values[output.value]);
    output.levels = has_unsigned ? static_cast<uint8_t*>(data) : nullptr;
    output.unstaged = nullptr;
    if (output.is_read && !may_over_read(context, data, output.nbytes)) {
      PETREL_RETURN_IF_ERROR(reserve_staging(context, index, output.nbytes, &output.staging));
      output.unstaged = data;
      data = output.staging.data();
    }
    if (output.data != data) *setup = true;
    output.data = data;
  }
  return Error::Ok;
}

// XNNPACK takes no value without elements. Where an input has none, outputs that have
// none either are made by giving them their sizes.
Error Delegate::make_empty(Span<EValue*> args) {
  for (const Node& node : graph_.nodes) {
    std::vector<const Dims*> in;
    for (const uint32_t id : node.inputs) {
      in.push_back(id == kNoId ? nullptr : &graph_.values[id].dims);
    }
    Dims dims;
    if (const Problem problem = infer_any_dims(node, in, &dims); !problem.ok()) {
      PETREL_LOG(Error, "the sizes of the inputs do not fit: %s", problem.text().c_str());
      return Error::InvalidArgument;
    }
    for (const uint32_t id : node.outputs) graph_.values[id].dims = dims;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Dims& dims = graph_.values[outputs_[i].value].dims;
    if (is_empty(dims)) continue;
    PETREL_LOG(Error,
               "an input has no elements, and argument %zu would have %s: XNNPACK makes "
               "nothing of empty tensors",
               inputs_.size() + i, to_string(dims).c_str());
    return Error::NotSupported;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const size_t index = inputs_.size() + i;
    const Dims& dims = graph_.values[outputs_[i].value].dims;
    PETREL_ASSIGN_OR_RETURN(const Tensor tensor,
                            tensor_argument(args, index, graph_.values[outputs_[i].value], false));
    PETREL_RETURN_IF_ERROR(resize_output(tensor, index, dims));
  }
  return Error::Ok;
}

Error Delegate::reshape(runtime::Budget* memory) {
  ++num_reshapes_;
  for (const External& input : inputs_) {
    const Value& value = graph_.values[input.value];
    size_t dims[kMaxValueRank];
    std::copy(value.dims.begin(), value.dims.end(), dims);
    PETREL_RETURN_IF_ERROR(
        report("take an input of these sizes",
               xnn_reshape_external_value(runtime_, value.external_id, value.dims.size(), dims)));
  }
  {
    PaidCall call(counted_bytes(graph_), memory);
    Workspace::Payment payment(workspace_.get(), rounding_bytes(graph_), memory, &call);
    const xnn_status status = xnn_reshape_runtime(runtime_);
    // Memory is planned when all operators have their sizes, and can be again.
    is_half_made_ = status != xnn_status_success && !payment.was_asked();
    PETREL_RETURN_IF_ERROR(payment.error());
    if (call.was_refused()) return Error::OutOfResources;
    PETREL_RETURN_IF_ERROR(report("work with these sizes", status));
  }
  // Outputs were given the room that the rules of this backend found; if
  // XNNPACK thought otherwise it would write past it.
  for (const External& output : outputs_) {
    const Value& value = graph_.values[output.value];
    size_t dims[kMaxValueRank];
    size_t rank = 0;
    PETREL_RETURN_IF_ERROR(
        report("tell the sizes of an output",
               xnn_get_external_value_shape(runtime_, value.external_id, &rank, dims)));
    if (rank != value.dims.size() || !std::equal(dims, dims + rank, value.dims.begin())) {
      PETREL_LOG(Error, "XNNPACK gives output %u other sizes than %s", value.external_id,
                 to_string(value.dims).c_str());
      return Error::Internal;
    }
  }
  return Error::Ok;
}

Error Delegate::set_up(void* placeholder) {
  num_setups_ += placeholder == nullptr ? 1 : 0;
  std::vector<xnn_external_value> externals;
  for (const std::vector<External>* list : {&inputs_, &outputs_}) {
    for (const External& external : *list) {
      void* data = placeholder != nullptr ? placeholder : const_cast<void*>(external.data);
      externals.push_back({graph_.values[external.value].external_id, data});
    }
  }
  const xnn_status status = xnn_setup_runtime_v2(runtime_, externals.size(), externals.data());
  is_half_made_ = status != xnn_status_success;
  return report("take these addresses", status);
}

}  // namespace petrel::backends::xnnpack
