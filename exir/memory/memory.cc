// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/memory.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ir/region_values.h"
#include "exir/memory/reach.h"
#include "exir/memory/shared_bytes.h"
#include "exir/plan/model/alias_classes.h"
#include "exir/plan/model/validator.h"
#include "exir/status_macros.h"
#include "exir/ops/handles.h"

namespace petrel::exir {
namespace {

// Offsets that suit the widest vector loads.
constexpr int64_t kWideAlignment = 64;

// One entry per root that needs memory, in order of first appearance.
class Lifetimes {
 public:
  // `apart` are roots that have their memory elsewhere.
  Lifetimes(const Storage& storage, bool state_apart, std::set<const Value*> apart)
      : storage_(storage), state_apart_(state_apart), apart_(std::move(apart)) {}

  // The memory of `value` is in use at `time`.
  void touch(const Value* value, int64_t time) {
    const Value* root = storage_.root(value);
    if (!value->type().is_tensor() || !needs_memory(*root)) return;
    auto [it, fresh] = index_.emplace(root, buffers_.size());
    if (fresh) {
      roots_.push_back(root);
      plan::Buffer buffer;
      buffer.id = root->name();
      buffer.size = root->tensor().nbytes();
      if (root->producer() != nullptr) {
        buffer.group = root->producer()->source().module;
      }
      buffer.lifetime = {time, time + 1};
      buffers_.push_back(std::move(buffer));
    }
    plan::Buffer& buffer = buffers_[it->second];
    // A view may have the larger bounds.
    buffer.size = std::max(buffer.size, value->tensor().nbytes());
    buffer.lifetime.begin = std::min(buffer.lifetime.begin, time);
    buffer.lifetime.end = std::max(buffer.lifetime.end, time + 1);
    ++buffer.access_count;
  }

  // `step` runs at `time`.
  void note_step(const Node* step, int64_t time) { times_.emplace_back(step, time); }

  // `node` needs so many bytes at `time`, and no other.
  void add_scratch(const Node* node, int64_t bytes, int64_t time) {
    plan::Buffer buffer;
    buffer.id = absl::StrCat("scratch of ", node->result()->name());
    buffer.size = bytes;
    buffer.lifetime = {time, time + 1};
    buffer.access_count = 2;
    buffer.group = "scratch";
    scratch_.emplace_back(node, buffers_.size());
    buffers_.push_back(std::move(buffer));
    roots_.push_back(nullptr);
  }

  std::vector<plan::Buffer>& buffers() { return buffers_; }
  // Of each buffer; null for scratch.
  const std::vector<const Value*>& roots() const { return roots_; }
  // With the indices of their buffers.
  const std::vector<std::pair<const Node*, size_t>>& scratch() const { return scratch_; }
  // Precondition: it was touched and needs memory.
  size_t index_of(const Value* root) const { return index_.at(root); }
  BufferOf buffer_of() const {
    return [this](const Value* root) -> std::optional<plan::BufferIdx> {
      const auto found = index_.find(root);
      if (found == index_.end()) return std::nullopt;
      return static_cast<plan::BufferIdx>(found->second);
    };
  }
  const StepTimes& times() const { return times_; }

 private:
  bool needs_memory(const Value& root) const {
    return root.type().is_tensor() && apart_.count(&root) == 0 &&
           (!root.is_constant() || (root.constant()->is_mutable() && !state_apart_));
  }

  const Storage& storage_;
  const bool state_apart_;
  const std::set<const Value*> apart_;
  std::vector<plan::Buffer> buffers_;
  std::vector<const Value*> roots_;
  std::vector<std::pair<const Node*, size_t>> scratch_;
  std::unordered_map<const Value*, size_t> index_;
  StepTimes times_;
};

// Touches what the steps of `graph` use, from `time` on; returns the time after
// them.
int64_t touch_steps(const Graph& graph, const Storage& storage, const MemoryPools& pools,
                    int64_t time, Lifetimes* lifetimes, std::vector<const Value*>* state) {
  auto step = storage.steps_of(graph).begin();
  const auto end = storage.steps_of(graph).end();
  for (const auto& owned : graph.nodes()) {
    const Node* node = owned.get();
    const bool is_step = step != end && *step == node;
    if (is_step) ++step;
    // What a node without an instruction would have moved stays from those who
    // write it to those who read it, also while neither runs.
    if (!is_step && storage.parts().elided.count(node) == 0) continue;
    const auto touch_operands = [&] {
      for (const Value* operand : storage.operands_of(*node)) {
        const Value* root = storage.root(operand);
        if (root->is_constant()) state->push_back(root);
        lifetimes->touch(operand, time);
      }
    };
    const auto touch_results = [&] {
      for (size_t i = 0; i < node->num_results(); ++i) {
        lifetimes->touch(node->result(i), time);
      }
    };
    touch_operands();
    const bool loops = is_loop(*node);
    // Branches make the results of their node themselves, at their own times.
    if (node->regions().empty() || loops) touch_results();
    if (!is_step) continue;
    lifetimes->note_step(node, time);
    const int64_t scratch =
        pools.kernels == nullptr ? 0 : pools.kernels->scratch_bytes(storage.nodes_of(*node));
    if (scratch > 0) lifetimes->add_scratch(node, scratch, time);
    ++time;
    for (const std::shared_ptr<Graph>& region : node->regions()) {
      const auto touch_row = [&](const Value* value) {
        if (value->type().is_tensor()) lifetimes->touch(value, time);
      };
      for (const Value* input : region->inputs()) touch_row(input);
      time = touch_steps(*region, storage, pools, time + 1, lifetimes, state);
      for (const Value* output : region->outputs()) touch_row(output);
      ++time;
    }
    if (node->regions().empty()) continue;
    // All rounds of a loop need what the first one does.
    if (loops) touch_operands();
    touch_results();
    ++time;
  }
  return time;
}

Lifetimes find_lifetimes(const Graph& graph, const Storage& storage, const MemoryPools& pools) {
  std::set<const Value*> apart;
  if (pools.io_apart) {
    for (const Value* input : graph.inputs()) apart.insert(storage.root(input));
    for (const Value* output : graph.outputs()) apart.insert(storage.root(output));
  }
  Lifetimes lifetimes(storage, pools.state_apart, std::move(apart));
  for (const Value* input : graph.inputs()) lifetimes.touch(input, 0);
  std::vector<const Value*> state;
  int64_t time = touch_steps(graph, storage, pools, 1, &lifetimes, &state);
  for (const BufferWrite& write : graph.buffer_writes()) {
    lifetimes.touch(write.value, time);
    state.push_back(write.buffer);
    ++time;
  }
  for (const Value* output : graph.outputs()) lifetimes.touch(output, time);
  // State outlives the call: nothing else may ever use its memory.
  for (const Value* buffer : state) {
    lifetimes.touch(buffer, 0);
    lifetimes.touch(buffer, time);
  }
  return lifetimes;
}

// Ties the buffers that lie in one another. Only the first of a group is aligned
// like others: within it, elements are.
absl::Status unite_parts(const Parts& parts, const Lifetimes& lifetimes,
                         std::vector<plan::Buffer>& buffers,
                         std::optional<plan::AliasClasses>* classes) {
  for (const PlacedPart& part : parts.list) {
    buffers[lifetimes.index_of(part.root)].alignment =
        static_cast<int64_t>(item_size(part.root->tensor().dtype));
  }
  classes->emplace(buffers);
  for (const PlacedPart& part : parts.list) {
    PETREL_RETURN_IF_ERROR((*classes)->unite(
        static_cast<plan::BufferIdx>(lifetimes.index_of(part.anchor)),
        static_cast<plan::BufferIdx>(lifetimes.index_of(part.root)), part.offset));
  }
  return absl::OkStatus();
}

int64_t round_up(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Kernels keep to their tensors, the code of backends need not. An arena of
// tensors without elements has a place for them all the same.
int64_t slack_for(const Storage& storage, int64_t peak) {
  for (const Node* node : storage.steps()) {
    if (node->delegate() != nullptr) return kArenaSlack;
  }
  return peak == 0 ? kArenaAlignment : 0;
}

// What code of backends may read behind the last tensor of a pool.
int64_t pool_slack(const Storage& storage, const plan::MemoryPool& pool) {
  const bool has_delegate =
      std::any_of(storage.steps().begin(), storage.steps().end(),
                  [](const Node* node) { return node->delegate() != nullptr; });
  return has_delegate ? round_up(kArenaSlack, alignment_of(pool)) : 0;
}

// The wide alignment where rounding up to it costs next to nothing.
int64_t choose_alignment(const std::vector<plan::Buffer>& buffers) {
  int64_t narrow = 0;
  int64_t wide = 0;
  for (const plan::Buffer& buffer : buffers) {
    narrow += round_up(buffer.size, kArenaAlignment);
    wide += round_up(buffer.size, kWideAlignment);
  }
  return wide - narrow <= narrow / 64 ? kWideAlignment : kArenaAlignment;
}

// The names that users know the memory of each root by, and who must reach it.
std::vector<BufferUse> uses_of(const Graph& graph, const Storage& storage,
                               const Lifetimes& lifetimes) {
  std::unordered_map<const Value*, std::set<std::string>> names;
  const auto note = [&](const Value* value) { names[storage.root(value)].insert(value->name()); };
  for (const Value* input : graph.inputs()) note(input);
  for (const auto& node : graph.nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) note(node->result(i));
  }
  for (const Value* constant : graph.constants()) {
    names[storage.root(constant)].insert(constant->constant()->fqn);
  }
  std::map<const Value*, std::set<std::string>> targets = targets_of(graph, storage);
  std::vector<BufferUse> result;
  targets[nullptr] = {kProcessor};  // scratch is of kernels, and has no names
  for (const Value* root : lifetimes.roots()) result.push_back({names[root], targets[root]});
  return result;
}

// The question to the planner, of the buffers of `lifetimes`; `classes` translate its answer.
absl::StatusOr<plan::Problem> pose_problem(const Graph& graph, const Storage& storage,
                                           const MemoryPools& pools, Lifetimes* lifetimes,
                                           std::optional<plan::AliasClasses>* classes) {
  plan::Problem problem;
  problem.pools = planner_pools(pools);
  for (size_t i = 0; i < pools.list.size(); ++i) {
    const int64_t slack = pool_slack(storage, pools.list[i]);
    const auto reduce = [&](std::optional<int64_t>* bytes) {
      if (bytes->has_value()) *bytes = std::max<int64_t>(0, **bytes - slack);
    };
    reduce(&problem.pools[i].capacity);
    reduce(&problem.pools[i].preferred_capacity);
  }
  problem.buffers = lifetimes->buffers();
  // check_problem() bounds sizes and their sum, so it comes before arithmetic.
  PETREL_RETURN_IF_ERROR(plan::check_problem(problem));
  const int64_t alignment = choose_alignment(problem.buffers);
  for (plan::Buffer& buffer : problem.buffers) buffer.alignment = alignment;
  if (!pools.list.empty()) {
    PETREL_RETURN_IF_ERROR(
        restrict_buffers(pools, uses_of(graph, storage, *lifetimes), &problem.buffers));
  }
  PETREL_RETURN_IF_ERROR(unite_parts(storage.parts(), *lifetimes, problem.buffers, classes));
  std::vector<SharedPair> pairs;
  if (pools.kernels != nullptr) {
    pairs = find_sharing(lifetimes->times(), storage, *pools.kernels, problem.buffers,
                         lifetimes->buffer_of());
    PETREL_RETURN_IF_ERROR(unite_exact(pairs, problem.buffers, &**classes));
  }
  const std::vector<plan::Pool> places = problem.pools;
  absl::StatusOr<plan::Problem> merged = (*classes)->problem(places);
  if (!merged.ok()) return merged;
  permit_overlaps(pairs, problem.buffers, **classes, &*merged);
  return merged;
}

}  // namespace

absl::StatusOr<StatePlan> plan_state(const std::vector<const Constant*>& states) {
  StatePlan result;
  std::map<std::string, int64_t> sizes;
  for (const Constant* state : states) {
    sizes.emplace(state->fqn, state->type.nbytes());
  }
  if (sizes.empty()) return result;
  int64_t end = 0;
  for (const auto& [name, size] : sizes) {
    if (size > plan::kMaxBytes - kWideAlignment - end) {
      return absl::InvalidArgumentError(absl::StrCat("state '", name, "' of ", size,
                                                     " bytes makes the state of the "
                                                     "program larger than ",
                                                     plan::kMaxBytes, " bytes"));
    }
    result.offsets[name] = end;
    end = round_up(end + size, kWideAlignment);
  }
  result.arena_bytes = end + kArenaSlack;
  return result;
}

absl::StatusOr<MemoryPlan> plan_memory(const Graph& graph, const Storage& storage,
                                       const plan::Options& options, const MemoryPools& pools) {
  Lifetimes lifetimes = find_lifetimes(graph, storage, pools);
  MemoryPlan result;
  result.pool_bytes.resize(pools.list.size());
  if (lifetimes.buffers().empty()) {
    result.proven_optimal = true;
    return result;
  }
  std::optional<plan::AliasClasses> classes;
  PETREL_ASSIGN_OR_RETURN(plan::Problem problem,
                          pose_problem(graph, storage, pools, &lifetimes, &classes));
  PETREL_ASSIGN_OR_RETURN(plan::Solution solution, plan::plan(problem, options));
  PETREL_RETURN_IF_ERROR(plan::validate(problem, solution));
  if (pools.list.empty() && pools.kernels == nullptr) {
    result.scratch = find_scratch(storage);
    PETREL_RETURN_IF_ERROR(plan_scratch(storage, options, &result.scratch, &problem, &solution));
  }
  if (pools.kernels != nullptr) {
    PETREL_RETURN_IF_ERROR(check_sharing(
        lifetimes.times(), storage, *pools.kernels, lifetimes.buffers(), lifetimes.buffer_of(),
        [&](plan::BufferIdx i) { return classes->placement(i, solution); }));
  }
  for (const auto& [node, i] : lifetimes.scratch()) {
    const plan::Placement place = classes->placement(static_cast<plan::BufferIdx>(i), solution);
    result.scratch_places[node] = {pools.list.empty() ? plan::PoolIdx{0} : place.pool,
                                   place.offset};
  }
  for (size_t i = 0; i < lifetimes.roots().size(); ++i) {
    if (lifetimes.roots()[i] == nullptr) continue;
    const plan::Placement place = classes->placement(static_cast<plan::BufferIdx>(i), solution);
    result.offsets[lifetimes.roots()[i]] = place.offset;
    if (!pools.list.empty()) result.pools[lifetimes.roots()[i]] = place.pool;
  }
  result.pool_bytes = pool_bytes(pools, problem, solution);
  for (size_t i = 0; i < pools.list.size(); ++i) {
    if (result.pool_bytes[i] > 0) result.pool_bytes[i] += pool_slack(storage, pools.list[i]);
  }
  const int64_t slack = slack_for(storage, solution.peak);
  result.arena_bytes = pools.list.empty() ? round_up(solution.peak, kArenaAlignment) + slack
                                          : std::accumulate(result.pool_bytes.begin(),
                                                            result.pool_bytes.end(), int64_t{0});
  result.lower_bound_bytes = round_up(solution.lower_bound, kArenaAlignment) + slack;
  result.proven_optimal = solution.optimal;
  result.problem = std::move(problem);
  result.solution = std::move(solution);
  return result;
}

absl::StatusOr<plan::Problem> memory_problem(const Graph& graph, const Storage& storage,
                                             const MemoryPools& pools) {
  Lifetimes lifetimes = find_lifetimes(graph, storage, pools);
  if (lifetimes.buffers().empty()) return plan::Problem();
  std::optional<plan::AliasClasses> classes;
  return pose_problem(graph, storage, pools, &lifetimes, &classes);
}

int64_t least_arena_bytes(const Graph& graph, const Storage& storage, const MemoryPools& pools) {
  plan::Problem problem;
  problem.pools.resize(1);
  problem.buffers = std::move(find_lifetimes(graph, storage, pools).buffers());
  // Bounds the sum of all sizes.
  if (problem.buffers.empty() || !plan::check_problem(problem).ok()) return 0;
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (const plan::Buffer& buffer : problem.buffers) {
    const int64_t bytes = round_up(buffer.size, kArenaAlignment);
    changes.emplace_back(buffer.lifetime.begin, bytes);
    changes.emplace_back(buffer.lifetime.end, -bytes);
  }
  // What ends at a time makes room for what begins then.
  std::sort(changes.begin(), changes.end());
  int64_t live = 0;
  int64_t most = 0;
  for (const auto& change : changes) {
    live += change.second;
    most = std::max(most, live);
  }
  return most + slack_for(storage, most);
}

}  // namespace petrel::exir
