// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/scratch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/plan/model/validator.h"
#include "exir/status_macros.h"
#include "runtime/kernels/scratch/table.h"

namespace petrel::exir {
namespace {

namespace table = runtime::scratch;

// Vector code likes cache lines.
constexpr int64_t kScratchAlignment = 64;

// The arguments of a call as the table wants them. Sizes that vary are at their
// bounds; a smaller call that needs more, because other bands suit it, takes
// that from the temporary allocator.
class CallShape {
 public:
  explicit CallShape(const Node& node) {
    const size_t count = node.arguments().size();
    sizes_.resize(count);
    ints_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const Argument& argument = node.arguments()[i];
      if (argument.is_value() && argument.value()->type().is_tensor()) {
        const Sizes& from = argument.value()->tensor().sizes;
        sizes_[i].assign(from.begin(), from.end());
      } else if (argument.is_ints()) {
        ints_[i] = argument.as_ints();
      } else if (argument.is_int()) {
        ints_[i] = {argument.as_int()};
      } else if (argument.is_bool()) {
        ints_[i] = {argument.as_bool() ? 1 : 0};
      }
    }
    for (const auto& list : sizes_) {
      size_spans_.emplace_back(list.data(), list.size());
    }
    for (const auto& list : ints_) {
      int_spans_.emplace_back(list.data(), list.size());
    }
  }

  table::ScratchCall call() const {
    return {{size_spans_.data(), size_spans_.size()}, {int_spans_.data(), int_spans_.size()}};
  }

 private:
  std::vector<std::vector<int32_t>> sizes_;
  std::vector<std::vector<int64_t>> ints_;
  std::vector<table::Sizes> size_spans_;
  std::vector<table::Ints> int_spans_;
};

// Floats, or a mask.
bool is_plain(const Value* value) {
  return value->type().is_tensor() &&
         (value->tensor().dtype == ScalarType::kFloat ||
          value->tensor().dtype == ScalarType::kBool) &&
         value->tensor().is_contiguous();
}

int64_t scratch_bytes_of(const Node& node) {
  if (node.delegate() != nullptr || node.op().out_name.empty()) return 0;
  const std::vector<Value*> operands = node.operands();
  if (!std::all_of(operands.begin(), operands.end(), is_plain)) return 0;
  const std::string kernel = absl::StrCat(node.op().out_name, ".", node.op().out_overload);
  return static_cast<int64_t>(table::scratch_bytes(kernel, CallShape(node).call()));
}

int64_t time_of(const StepScratch& scratch) { return static_cast<int64_t>(scratch.step) + 1; }

// The lowest place below `peak` that no buffer needs at that time, or -1.
int64_t free_place(const plan::Problem& problem, const plan::Solution& solution,
                   const StepScratch& scratch) {
  const int64_t time = time_of(scratch);
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const plan::Buffer& buffer = problem.buffers[i];
    if (time < buffer.lifetime.begin || time >= buffer.lifetime.end) continue;
    int64_t low = 0;
    int64_t high = buffer.size;
    for (const plan::Gap& gap : buffer.gaps) {
      if (time < gap.time.begin || time >= gap.time.end) continue;
      low = gap.low;
      high = gap.high;
    }
    const int64_t offset = solution.placements[i].offset;
    if (low < high) taken.emplace_back(offset + low, offset + high);
  }
  std::sort(taken.begin(), taken.end());
  int64_t place = 0;
  for (const auto& [begin, end] : taken) {
    if (place + scratch.bytes <= begin) break;
    place = std::max(place, (end + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment);
  }
  return place + scratch.bytes <= solution.peak ? place : -1;
}

plan::Buffer buffer_of(const Storage& storage, const StepScratch& scratch) {
  const Node& node = *storage.steps()[scratch.step];
  plan::Buffer buffer;
  buffer.id = absl::StrCat("scratch of ", node.result()->name());
  buffer.size = scratch.bytes;
  buffer.alignment = kScratchAlignment;
  buffer.lifetime = {time_of(scratch), time_of(scratch) + 1};
  buffer.access_count = 2;
  buffer.group = "scratch";
  return buffer;
}

}  // namespace

std::vector<StepScratch> find_scratch(const Storage& storage) {
  std::vector<StepScratch> found;
  // Steps of branches and loops are not one instruction each, one after another.
  const auto has_regions = [](const Node* node) { return !node->regions().empty(); };
  if (std::any_of(storage.steps().begin(), storage.steps().end(), has_regions)) {
    return found;
  }
  for (size_t i = 0; i < storage.steps().size(); ++i) {
    const int64_t bytes = scratch_bytes_of(*storage.steps()[i]);
    if (bytes > 0) found.push_back({i, bytes, -1});
  }
  return found;
}

absl::Status plan_scratch(const Storage& storage, const plan::Options& options,
                          std::vector<StepScratch>* scratch, plan::Problem* problem,
                          plan::Solution* solution) {
  for (StepScratch& one : *scratch) {
    one.offset = free_place(*problem, *solution, one);
  }
  const auto has_place = [](const StepScratch& one) { return one.offset >= 0; };
  if (!std::all_of(scratch->begin(), scratch->end(), has_place)) {
    // Perhaps there is room if tensors lie elsewhere.
    plan::Problem joint = *problem;
    for (const StepScratch& one : *scratch) {
      joint.buffers.push_back(buffer_of(storage, one));
    }
    PETREL_ASSIGN_OR_RETURN(plan::Solution moved, plan::plan(joint, options));
    if (moved.peak <= solution->peak) {
      const size_t first = problem->buffers.size();
      for (size_t i = 0; i < scratch->size(); ++i) {
        (*scratch)[i].offset = moved.placements[first + i].offset;
      }
      *problem = std::move(joint);
      *solution = std::move(moved);
      return plan::validate(*problem, *solution);
    }
  }
  for (const StepScratch& one : *scratch) {
    if (one.offset < 0) continue;
    problem->buffers.push_back(buffer_of(storage, one));
    solution->placements.push_back({0, one.offset});
  }
  return plan::validate(*problem, *solution);
}

}  // namespace petrel::exir
