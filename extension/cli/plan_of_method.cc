// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/plan_of_method.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "extension/data_loader/file_data_loader.h"
#include "runtime/core/budget.h"
#include "runtime/executor/program.h"

namespace petrel::extension {
namespace {

namespace plan = exir::plan;
using runtime::InstructionView;
using runtime::MethodView;

// One buffer per planned tensor and per kernel with scratch memory.
class Reader {
 public:
  Reader(const MethodView& method, const runtime::ProgramAdditions& additions)
      : method_(method), additions_(additions) {}

  absl::Status read(plan::Problem* problem, plan::Solution* solution) {
    for (uint32_t i = 1; i <= method_.num_arenas(); ++i) {
      plan::Pool pool;
      pool.name = absl::StrCat("arena ", i);
      problem->pools.push_back(std::move(pool));
    }
    touch_all(method_.inputs(), 0, "input");
    int64_t time = 1;
    std::vector<plan::Interval> loops;
    for (uint32_t c = 0; c < method_.num_chains(); ++c) {
      const runtime::ChainView chain = method_.chain(c);
      const int64_t first = time;
      for (uint32_t i = 0; i < chain.num_instructions(); ++i) {
        visit(chain.instruction(i), first, time, &loops);
        ++time;
      }
    }
    touch_all(method_.outputs(), time, "output");
    for (plan::Buffer& buffer : buffers_) {
      if (stretch(loops, &buffer)) continue;
      return absl::ResourceExhaustedError(absl::StrCat(
          "method '", std::string(method_.name()), "' has ", loops.size(), " jumps back and ",
          buffers_.size(), " buffers, or lists that are named ", "too often: too many to draw"));
    }
    for (const int index : state_) {
      buffers_[index_.at(index)].lifetime = {0, time + 1};
    }
    add_scratch();
    problem->buffers = std::move(buffers_);
    solution->placements = std::move(places_);
    return absl::OkStatus();
  }

 private:
  void visit(const InstructionView& instruction, int64_t first, int64_t time,
             std::vector<plan::Interval>* loops) {
    switch (instruction.kind) {
      case InstructionView::Kind::Kernel:
        touch_all(instruction.args, time, std::string(method_.op(instruction.target).name));
        break;
      case InstructionView::Kind::Delegate:
        touch_all(instruction.args, time, absl::StrCat("delegate ", instruction.target));
        break;
      case InstructionView::Kind::Move:
        touch(static_cast<int32_t>(instruction.from), time, "move");
        touch(static_cast<int32_t>(instruction.to), time, "move");
        break;
      case InstructionView::Kind::Jump: {
        touch(static_cast<int32_t>(instruction.from), time, "jump");
        const int64_t target = first + instruction.target;
        if (target <= time) loops->push_back({target, time + 1});
        break;
      }
      case InstructionView::Kind::Free:
        break;
    }
  }

  // Behind the values, so that their places in the lists stay.
  void add_scratch() {
    std::vector<int64_t> first = {1};  // time of the first instruction of a chain
    for (uint32_t i = 0; i < method_.num_chains(); ++i) {
      first.push_back(first.back() + method_.chain(i).num_instructions());
    }
    for (uint32_t i = 0; i < additions_.num_scratch(method_.index()); ++i) {
      const runtime::ScratchView place = additions_.scratch(method_.index(), i);
      const int64_t time = first[place.chain] + place.instruction;
      plan::Buffer buffer;
      buffer.id = absl::StrCat("scratch of ", time - 1);
      buffer.group = "scratch";
      buffer.size = static_cast<int64_t>(place.size);
      buffer.lifetime = {time, time + 1};
      buffers_.push_back(std::move(buffer));
      places_.push_back(
          {static_cast<plan::PoolIdx>(place.arena) - 1, static_cast<int64_t>(place.offset)});
    }
  }

  // What lives inside and outside of a loop lives all through it. False where this takes
  // too long: loops may reach into each other, each a little farther.
  bool stretch(const std::vector<plan::Interval>& loops, plan::Buffer* buffer) {
    plan::Interval& life = buffer->lifetime;
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      if (!steps_.spend(loops.size() + 1)) return false;
      for (const plan::Interval& loop : loops) {
        const bool meets = life.begin < loop.end && loop.begin < life.end;
        const bool inside = loop.begin <= life.begin && life.end <= loop.end;
        const bool around = life.begin <= loop.begin && loop.end <= life.end;
        if (!meets || inside || around) continue;
        life.begin = std::min(life.begin, loop.begin);
        life.end = std::max(life.end, loop.end);
        has_grown = true;
      }
    }
    return true;
  }

  void touch_all(runtime::Span<const int32_t> indices, int64_t time, const std::string& who) {
    for (const int32_t index : indices) touch(index, time, who);
  }

  void touch(int32_t index, int64_t time, const std::string& who) {
    if (index < 0) return;  // an element of a list that is none
    const runtime::ValueView value = method_.value(index);
    if (const std::optional<runtime::TensorView> tensor = value.as_tensor(); tensor.has_value()) {
      touch_tensor(index, *tensor, time, who);
    }
    // Many calls may name one long list.
    if (!steps_.spend(value.tensor_items().size())) {
      static_cast<void>(steps_.spend(steps_.left()));
      return;
    }
    touch_all(value.tensor_items(), time, who);
  }

  void touch_tensor(int32_t index, const runtime::TensorView& tensor, int64_t time,
                    const std::string& who) {
    if (!tensor.is_planned()) return;
    const auto [known, fresh] = index_.emplace(index, buffers_.size());
    if (fresh) {
      plan::Buffer buffer;
      buffer.id = absl::StrCat("%", index);
      buffer.group = who;
      buffer.lifetime = {time, time + 1};
      buffer.size = static_cast<int64_t>(tensor.nbytes());
      buffers_.push_back(std::move(buffer));
      places_.push_back({static_cast<plan::PoolIdx>(tensor.arena) - 1,
                         static_cast<int64_t>(tensor.arena_offset)});
      if (tensor.data_index > 0) state_.push_back(index);
    }
    plan::Interval& life = buffers_[known->second].lifetime;
    life.end = std::max(life.end, time + 1);
  }

  const MethodView method_;
  const runtime::ProgramAdditions& additions_;
  std::unordered_map<int32_t, size_t> index_;
  std::vector<plan::Buffer> buffers_;
  std::vector<plan::Placement> places_;
  std::vector<int32_t> state_;  // values that keep their bytes between calls
  runtime::Budget steps_{"loops", 10'000'000};
};

// How many bytes of a pool are covered by ranges that come and go: a tree over the
// places where ranges begin or end, so that each costs the depth of it.
class Coverage {
 public:
  explicit Coverage(std::vector<int64_t> places) : places_(std::move(places)) {
    std::sort(places_.begin(), places_.end());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    nodes_.resize(4 * std::max<size_t>(places_.size(), 1));
  }

  // A range between two of the places comes (1) or goes (-1).
  void change(int64_t begin, int64_t end, int by) {
    if (begin < end) change(1, 0, places_.size() - 1, begin, end, by);
  }
  int64_t bytes() const { return nodes_[1].bytes; }

 private:
  struct Node {
    int64_t bytes = 0;
    int ranges = 0;  // that cover all of it
  };

  // The node covers [places_[first], places_[last]).
  void change(size_t node, size_t first, size_t last, int64_t begin, int64_t end, int by) {
    if (end <= places_[first] || places_[last] <= begin) return;
    const bool is_leaf = last - first == 1;
    if (begin <= places_[first] && places_[last] <= end) {
      nodes_[node].ranges += by;
    } else {
      const size_t middle = first + (last - first) / 2;
      change(2 * node, first, middle, begin, end, by);
      change(2 * node + 1, middle, last, begin, end, by);
    }
    nodes_[node].bytes = nodes_[node].ranges > 0 ? places_[last] - places_[first]
                         : is_leaf               ? 0
                                   : nodes_[2 * node].bytes + nodes_[2 * node + 1].bytes;
  }

  std::vector<int64_t> places_;
  std::vector<Node> nodes_;
};

// Peaks, and the most bytes that are in use at one time: a union, since values
// may share bytes.
void measure(const plan::Problem& problem, plan::Solution* solution) {
  solution->pools.resize(problem.pools.size());
  struct Event {
    int64_t time;
    int by;  // those that go come first
    size_t buffer;
  };
  std::vector<Event> events;
  std::vector<std::vector<int64_t>> places(problem.pools.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const plan::Buffer& buffer = problem.buffers[i];
    const plan::Placement& place = solution->placements[i];
    if (buffer.lifetime.begin >= buffer.lifetime.end) continue;
    events.push_back({buffer.lifetime.begin, 1, i});
    events.push_back({buffer.lifetime.end, -1, i});
    for (const int64_t at : {place.offset, place.offset + buffer.size}) {
      places[place.pool].push_back(at);
    }
    plan::PoolUse& use = solution->pools[place.pool];
    use.peak = std::max(use.peak, place.offset + buffer.size);
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.by < b.by;
  });
  std::vector<Coverage> covered;
  for (std::vector<int64_t>& of_pool : places) covered.emplace_back(std::move(of_pool));
  for (const Event& event : events) {
    const plan::Placement& place = solution->placements[event.buffer];
    covered[place.pool].change(place.offset, place.offset + problem.buffers[event.buffer].size,
                               event.by);
    plan::PoolUse& use = solution->pools[place.pool];
    use.lower_bound = std::max(use.lower_bound, covered[place.pool].bytes());
  }
  for (const plan::PoolUse& use : solution->pools) {
    solution->peak += use.peak;
    solution->lower_bound += use.lower_bound;
  }
  solution->optimal = solution->peak == solution->lower_bound;
}

}  // namespace

MethodPlan read_method_plan(const std::string& path, const std::string& method,
                            const runtime::Limits& limits) {
  MethodPlan result;
  runtime::Result<FileDataLoader> loader = FileDataLoader::from(path.c_str());
  if (!loader.ok()) {
    result.error = loader.error();
    return result;
  }
  runtime::ProgramOptions options;
  options.limits = limits;
  const runtime::Result<runtime::Program> program = runtime::Program::load(&*loader, options);
  if (!program.ok()) {
    result.error = program.error();
    return result;
  }
  std::string names;
  for (uint32_t i = 0; i < program->view().num_methods(); ++i) {
    const MethodView candidate = program->view().method(i);
    const std::string name(candidate.name());
    absl::StrAppend(&names, names.empty() ? "" : ", ", name);
    if (!method.empty() && name != method) continue;
    result.method = name;
    result.status = Reader(candidate, program->additions()).read(&result.problem, &result.solution);
    if (!result.status.ok()) return result;
    measure(result.problem, &result.solution);
    return result;
  }
  result.status = absl::NotFoundError(
      absl::StrCat(path, ": there is no method '", method, "', it has ", names));
  return result;
}

}  // namespace petrel::extension
