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

  void read(plan::Problem* problem, plan::Solution* solution) {
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
    for (plan::Buffer& buffer : buffers_) stretch(loops, &buffer);
    for (const int index : state_) {
      buffers_[index_.at(index)].lifetime = {0, time + 1};
    }
    add_scratch();
    problem->buffers = std::move(buffers_);
    solution->placements = std::move(places_);
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

  // What lives inside and outside of a loop lives all through it.
  static void stretch(const std::vector<plan::Interval>& loops, plan::Buffer* buffer) {
    plan::Interval& life = buffer->lifetime;
    for (size_t round = 0; round < loops.size(); ++round) {
      for (const plan::Interval& loop : loops) {
        const bool meets = life.begin < loop.end && loop.begin < life.end;
        const bool inside = loop.begin <= life.begin && life.end <= loop.end;
        if (!meets || inside) continue;
        life.begin = std::min(life.begin, loop.begin);
        life.end = std::max(life.end, loop.end);
      }
    }
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
};

// Peaks, and the most bytes that are in use at one time: a union, since values
// may share bytes.
void measure(const plan::Problem& problem, plan::Solution* solution) {
  solution->pools.resize(problem.pools.size());
  std::vector<size_t> by_offset(problem.buffers.size());
  int64_t end = 0;
  for (size_t i = 0; i < by_offset.size(); ++i) {
    by_offset[i] = i;
    end = std::max(end, problem.buffers[i].lifetime.end);
  }
  std::sort(by_offset.begin(), by_offset.end(), [&](size_t a, size_t b) {
    return solution->placements[a].offset < solution->placements[b].offset;
  });
  std::vector<int64_t> used, covered;
  for (int64_t time = 0; time < end; ++time) {
    used.assign(problem.pools.size(), 0);
    covered.assign(problem.pools.size(), 0);
    for (const size_t i : by_offset) {
      const plan::Buffer& buffer = problem.buffers[i];
      if (time < buffer.lifetime.begin || time >= buffer.lifetime.end) continue;
      const plan::Placement& place = solution->placements[i];
      int64_t& top = covered[place.pool];
      const int64_t last = place.offset + buffer.size;
      used[place.pool] += std::max<int64_t>(0, last - std::max(top, place.offset));
      top = std::max(top, last);
    }
    for (size_t p = 0; p < used.size(); ++p) {
      plan::PoolUse& use = solution->pools[p];
      use.lower_bound = std::max(use.lower_bound, used[p]);
      use.peak = std::max(use.peak, covered[p]);
    }
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
    Reader(candidate, program->additions()).read(&result.problem, &result.solution);
    measure(result.problem, &result.solution);
    return result;
  }
  result.status = absl::NotFoundError(
      absl::StrCat(path, ": there is no method '", method, "', it has ", names));
  return result;
}

}  // namespace petrel::extension
