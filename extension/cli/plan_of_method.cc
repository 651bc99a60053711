// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/plan_of_method.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "extension/data_loader/file_data_loader.h"
#include "runtime/core/scalar_type.h"
#include "runtime/executor/program.h"
#include "schema/additions_generated.h"
#include "schema/program_generated.h"

namespace petrel::extension {
namespace {

namespace pb = schema::program;
namespace plan = exir::plan;

using Scratch = flatbuffers::Vector<const schema::additions::ScratchPlace*>;

// One buffer per planned tensor and per kernel with scratch memory. Program::load has verified indices and sizes.
class Reader {
 public:
  // `scratch` may be null.
  Reader(const pb::ExecutionPlan& method, const Scratch* scratch)
      : method_(method), scratch_(scratch) {}

  void read(plan::Problem* problem, plan::Solution* solution) {
    for (uint32_t i = 1; i < method_.non_const_buffer_sizes()->size(); ++i) {
      plan::Pool pool;
      pool.name = absl::StrCat("arena ", i);
      problem->pools.push_back(std::move(pool));
    }
    for (const int value : *method_.inputs()) touch(value, 0, "input");
    int64_t time = 1;
    std::vector<plan::Interval> loops;
    for (const pb::Chain* chain : *method_.chains()) {
      const int64_t first = time;
      for (const pb::Instruction* instruction : *chain->instructions()) {
        visit(*instruction, first, time, &loops);
        ++time;
      }
    }
    for (const int value : *method_.outputs()) touch(value, time, "output");
    for (plan::Buffer& buffer : buffers_) stretch(loops, &buffer);
    for (const int index : state_) {
      buffers_[index_.at(index)].lifetime = {0, time + 1};
    }
    add_scratch();
    problem->buffers = std::move(buffers_);
    solution->placements = std::move(places_);
  }

 private:
  void visit(const pb::Instruction& instruction, int64_t first, int64_t time,
             std::vector<plan::Interval>* loops) {
    switch (instruction.instr_args_type()) {
      case pb::InstructionArguments::KernelCall: {
        const pb::KernelCall& call = *instruction.instr_args_as_KernelCall();
        const pb::Operator& op = *method_.operators()->Get(static_cast<uint32_t>(call.op_index()));
        touch_all(call.args(), time, op.name() == nullptr ? "" : op.name()->str());
        break;
      }
      case pb::InstructionArguments::DelegateCall: {
        const pb::DelegateCall& call = *instruction.instr_args_as_DelegateCall();
        touch_all(call.args(), time, absl::StrCat("delegate ", call.delegate_index()));
        break;
      }
      case pb::InstructionArguments::MoveCall: {
        const pb::MoveCall& call = *instruction.instr_args_as_MoveCall();
        touch(call.move_from(), time, "move");
        touch(call.move_to(), time, "move");
        break;
      }
      case pb::InstructionArguments::JumpFalseCall: {
        const pb::JumpFalseCall& jump = *instruction.instr_args_as_JumpFalseCall();
        touch(jump.cond_value_index(), time, "jump");
        const int64_t target = first + jump.destination_instruction();
        if (target <= time) loops->push_back({target, time + 1});
        break;
      }
      default:
        break;
    }
  }

  // Behind the values, so that their places in the lists stay.
  void add_scratch() {
    if (scratch_ == nullptr) return;
    std::vector<int64_t> first = {1};  // time of the first instruction of a chain
    for (const pb::Chain* chain : *method_.chains()) {
      first.push_back(first.back() + chain->instructions()->size());
    }
    for (const schema::additions::ScratchPlace* place : *scratch_) {
      const int64_t time = first[place->chain()] + place->instruction();
      plan::Buffer buffer;
      buffer.id = absl::StrCat("scratch of ", time - 1);
      buffer.group = "scratch";
      buffer.size = static_cast<int64_t>(place->size());
      buffer.lifetime = {time, time + 1};
      buffers_.push_back(std::move(buffer));
      places_.push_back({static_cast<plan::PoolIdx>(place->memory_id()) - 1,
                         static_cast<int64_t>(place->offset())});
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

  template <typename Indices>
  void touch_all(const Indices* indices, int64_t time, const std::string& who) {
    if (indices == nullptr) return;
    for (const auto index : *indices) touch(static_cast<int>(index), time, who);
  }

  void touch(int index, int64_t time, const std::string& who) {
    if (index < 0) return;  // an element of a list that is none
    const pb::EValue& value = *method_.values()->Get(static_cast<uint32_t>(index));
    switch (value.val_type()) {
      case pb::KernelTypes::TensorList:
        touch_all(value.val_as_TensorList()->items(), time, who);
        break;
      case pb::KernelTypes::OptionalTensorList:
        touch_all(value.val_as_OptionalTensorList()->items(), time, who);
        break;
      case pb::KernelTypes::Tensor:
        touch_tensor(index, *value.val_as_Tensor(), time, who);
        break;
      default:
        break;
    }
  }

  void touch_tensor(int index, const pb::Tensor& tensor, int64_t time, const std::string& who) {
    const pb::AllocationDetails* at = tensor.allocation_info();
    if (at == nullptr || at->memory_id() == 0) return;
    const auto [known, fresh] = index_.emplace(index, buffers_.size());
    if (fresh) {
      plan::Buffer buffer;
      buffer.id = absl::StrCat("%", index);
      buffer.group = who;
      buffer.lifetime = {time, time + 1};
      buffer.size = static_cast<int64_t>(
          runtime::element_size(static_cast<runtime::ScalarType>(tensor.scalar_type())));
      if (tensor.sizes() != nullptr) {
        for (const int dim : *tensor.sizes()) buffer.size *= dim;
      }
      buffers_.push_back(std::move(buffer));
      places_.push_back({static_cast<plan::PoolIdx>(at->memory_id()) - 1,
                         static_cast<int64_t>(at->memory_offset_low() |
                                              uint64_t{at->memory_offset_high()} << 32)});
      if (tensor.data_buffer_idx() > 0) state_.push_back(index);
    }
    plan::Interval& life = buffers_[known->second].lifetime;
    life.end = std::max(life.end, time + 1);
  }

  const pb::ExecutionPlan& method_;
  const Scratch* scratch_;
  std::unordered_map<int, size_t> index_;
  std::vector<plan::Buffer> buffers_;
  std::vector<plan::Placement> places_;
  std::vector<int> state_;  // values that keep their bytes between calls
};

const Scratch* scratch_of(const runtime::Program& program, uint32_t method) {
  const schema::additions::Additions* table = program.additions().table();
  if (table == nullptr || table->methods() == nullptr) return nullptr;
  return table->methods()->Get(method)->scratch();
}

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

MethodPlan read_method_plan(const std::string& path, const std::string& method) {
  MethodPlan result;
  runtime::Result<FileDataLoader> loader = FileDataLoader::from(path.c_str());
  if (!loader.ok()) {
    result.error = loader.error();
    return result;
  }
  const runtime::Result<runtime::Program> program = runtime::Program::load(&*loader);
  if (!program.ok()) {
    result.error = program.error();
    return result;
  }
  std::string names;
  uint32_t index = 0;
  for (const pb::ExecutionPlan* candidate : *program->internal_program()->execution_plan()) {
    const std::string name = candidate->name() == nullptr ? "" : candidate->name()->str();
    absl::StrAppend(&names, names.empty() ? "" : ", ", name);
    const Scratch* scratch = scratch_of(*program, index++);
    if (!method.empty() && name != method) continue;
    result.method = name;
    Reader(*candidate, scratch).read(&result.problem, &result.solution);
    measure(result.problem, &result.solution);
    return result;
  }
  result.status = absl::NotFoundError(
      absl::StrCat(path, ": there is no method '", method, "', it has ", names));
  return result;
}

}  // namespace petrel::extension
