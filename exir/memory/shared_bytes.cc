// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/shared_bytes.h"

#include <algorithm>
#include <set>

#include "exir/annotate.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Tensors that lie in one another have their places already.
std::set<const Value*> parts_of(const Storage& storage) {
  std::set<const Value*> roots;
  for (const PlacedPart& part : storage.parts().list) {
    roots.insert(part.anchor);
    roots.insert(part.root);
  }
  return roots;
}

const plan::Buffer& at(const std::vector<plan::Buffer>& buffers, plan::BufferIdx index) {
  return buffers[static_cast<size_t>(index)];
}

}  // namespace

std::vector<SharedPair> find_sharing(const StepTimes& steps, const Storage& storage,
                                     const StepKernels& kernels,
                                     const std::vector<plan::Buffer>& buffers,
                                     const BufferOf& buffer_of) {
  const std::set<const Value*> parts = parts_of(storage);
  std::vector<SharedPair> pairs;
  for (const auto& [step, time] : steps) {
    if (step->num_results() != 1 || !step->result()->type().is_tensor()) continue;
    const Value* result = storage.root(step->result());
    const auto out = buffer_of(result);
    if (!out.has_value() || parts.count(result) != 0) continue;
    if (result->producer() != step || at(buffers, *out).lifetime.begin != time) continue;
    std::set<const Value*> seen;
    for (const Value* operand : storage.operands_of(*step)) {
      const Value* root = storage.root(operand);
      if (!operand->type().is_tensor() || !seen.insert(root).second) continue;
      const auto in = buffer_of(root);
      if (!in.has_value() || *in == *out || parts.count(root) != 0) continue;
      if (root->is_constant() || at(buffers, *in).lifetime.end != time + 1) continue;
      const auto how = kernels.shared_bytes(storage.nodes_of(*step), operand);
      if (!how.has_value()) continue;
      const bool is_too_large = how->is_exact && at(buffers, *out).size > at(buffers, *in).size;
      if (!is_too_large) pairs.push_back({*out, *in, *how});
      if (how->is_exact && !is_too_large) break;
    }
  }
  return pairs;
}

absl::Status unite_exact(const std::vector<SharedPair>& pairs,
                         const std::vector<plan::Buffer>& buffers, plan::AliasClasses* classes) {
  for (const SharedPair& pair : pairs) {
    const bool are_alike = at(buffers, pair.result).pools == at(buffers, pair.operand).pools;
    if (!pair.how.is_exact || !are_alike) continue;
    PETREL_RETURN_IF_ERROR(classes->unite(pair.operand, pair.result, 0));
  }
  return absl::OkStatus();
}

void permit_overlaps(const std::vector<SharedPair>& pairs, const std::vector<plan::Buffer>& buffers,
                     const plan::AliasClasses& classes, plan::Problem* problem) {
  for (const SharedPair& pair : pairs) {
    if (pair.how.is_exact) continue;
    const plan::BufferIdx lower = classes.buffer_of(pair.result);
    const plan::BufferIdx upper = classes.buffer_of(pair.operand);
    // The planner counts from the end of the buffer, which that of the result may not be.
    const int64_t after = at(problem->buffers, lower).size - at(buffers, pair.result).size;
    const int64_t bytes =
        std::min(at(buffers, pair.result).size - pair.how.lead + after,
                 std::min(at(problem->buffers, lower).size, at(problem->buffers, upper).size));
    if (lower != upper && bytes > 0) problem->overlaps.push_back({lower, upper, bytes});
  }
}

absl::Status check_sharing(const StepTimes& steps, const Storage& storage,
                           const StepKernels& kernels, const std::vector<plan::Buffer>& buffers,
                           const BufferOf& buffer_of,
                           const std::function<plan::Placement(plan::BufferIdx)>& place_of) {
  for (const auto& [step, time] : steps) {
    if (storage.is_view(*step) || storage.is_in_place(*step)) continue;
    for (size_t i = 0; i < step->num_results(); ++i) {
      if (!step->result(i)->type().is_tensor()) continue;
      const auto out = buffer_of(storage.root(step->result(i)));
      if (!out.has_value()) continue;
      const plan::Placement to = place_of(*out);
      for (const Value* operand : storage.operands_of(*step)) {
        if (!operand->type().is_tensor()) continue;
        const auto in = buffer_of(storage.root(operand));
        if (!in.has_value() || *in == *out) continue;
        const plan::Placement from = place_of(*in);
        const bool is_apart = to.pool != from.pool ||
                              to.offset + at(buffers, *out).size <= from.offset ||
                              from.offset + at(buffers, *in).size <= to.offset;
        // Branches make the results of their node themselves.
        if (is_apart || !step->regions().empty()) continue;
        PETREL_RETURN_IF_ERROR(annotate(
            kernels.check_shared(storage.nodes_of(*step), operand, from.offset - to.offset),
            step->describe()));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
