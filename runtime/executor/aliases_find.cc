// SPDX-License-Identifier: Apache-2.0
//
// What views and moves make of the values of a method.

#include <utility>

#include "runtime/core/log.h"
#include "runtime/executor/aliases.h"

namespace petrel::runtime {

namespace {

// The call of a kernel that makes views.
bool is_view_call(const InstructionView& instruction, Span<const Kernel* const> kernels) {
  if (instruction.kind != InstructionView::Kind::Kernel) return false;
  const Kernel* const kernel = kernels[instruction.target];
  return kernel != nullptr && kernel->outputs.kind == KernelOutputs::Kind::View &&
         instruction.args.size() >= kernel->outputs.num_arguments;
}

}  // namespace

Error Aliases::find(Span<const Kernel* const> kernels, bool writable_inputs,
                    MemoryAllocator* allocator) {
  writable_inputs_ = writable_inputs;
  bool has_views = false, has_moves = false;
  // Moves before views: a view of what is moved is a view of all that it may be.
  enum class Pass { Look, Moves, Views };
  for (const Pass pass : {Pass::Look, Pass::Moves, Pass::Views}) {
    for (uint32_t c = 0; c < declared_.num_chains(); ++c) {
      const ChainView chain = declared_.chain(c);
      for (uint32_t i = 0; i < chain.num_instructions(); ++i) {
        const InstructionView call = chain.instruction(i);
        const bool is_move = call.kind == InstructionView::Kind::Move;
        const bool is_view = is_view_call(call, kernels);
        has_moves |= is_move;
        has_views |= is_view;
        if (pass == Pass::Moves && is_move) {
          PETREL_RETURN_IF_ERROR(add_move({c, i, "a move", {}}, call.from, call.to));
        } else if (pass == Pass::Views && is_view) {
          PETREL_RETURN_IF_ERROR(add_view({c, i, "a view", call.args}));
        }
      }
    }
    if (pass != Pass::Look) continue;
    PETREL_RETURN_IF_ERROR(make_room(has_views, has_moves, allocator));
    if (!has_views && !has_moves) return Error::Ok;
  }
  return check_views();
}

Error Aliases::make_room(bool has_views, bool has_moves, MemoryAllocator* allocator) {
  const uint32_t count = declared_.num_values();
  PETREL_RETURN_IF_ERROR(allocator->allocate_list(count, &io_));
  for (uint8_t& io : io_) io = 0;
  for (const int32_t input : declared_.inputs()) io_[static_cast<size_t>(input)] |= kInput;
  for (const int32_t output : declared_.outputs()) io_[static_cast<size_t>(output)] |= kOutput;
  if (has_views) {
    PETREL_RETURN_IF_ERROR(allocator->allocate_list(count, &bases_));
    for (uint32_t& base : bases_) base = kNone;
  }
  if (has_moves) {
    PETREL_RETURN_IF_ERROR(allocator->allocate_list(count, &rings_));
    for (uint32_t i = 0; i < count; ++i) rings_[i] = i;
  }
  return Error::Ok;
}

Error Aliases::add_move(const Call& call, uint32_t from, uint32_t to) {
  if (from == to) return Error::Ok;
  const Tag tag = declared_.value(from).tag();
  if (tag == Tag::ListTensor || tag == Tag::ListOptionalTensor) {
    PETREL_LOG(
        Error,
        "method \"%.64s\": instruction %u:%u moves value %u, a list of tensors, which is not "
        "supported",
        declared_.name().data(), call.chain, call.instruction, from);
    return Error::NotSupported;
  }
  // The verifier saw to it that both have one type.
  if (tag != Tag::Tensor) return Error::Ok;
  io_[to] |= kMovedTo;
  size_t length = 1;
  for (uint32_t i = rings_[from]; i != from; i = rings_[i], ++length) {
    if (i == to) return Error::Ok;
    if (length <= kMostShared) continue;
    PETREL_LOG(Error, "method \"%.64s\": more than %zu values are moved to one another",
               declared_.name().data(), kMostShared);
    return Error::NotSupported;
  }
  std::swap(rings_[from], rings_[to]);
  return Error::Ok;
}

Error Aliases::add_view(const Call& call) {
  const auto self = static_cast<uint32_t>(call.args[0]);
  const auto view = static_cast<uint32_t>(call.args[2]);
  // The kernel refuses what is not a tensor.
  if (self == view || !is_tensor(self) || !is_tensor(view)) return Error::Ok;
  // A chain of views is one view, unless those between may be elsewhere, too.
  uint32_t base = self;
  if (bases_[self] != kNone && bases_[self] != view && !is_moved(self) &&
      !tensor(self)->is_planned()) {
    base = bases_[self];
  }
  const char* const wrong = is_input(view) ? "is an input"
                            : bases_[view] != kNone && bases_[view] != base
                                ? "is a view of another value already"
                            // It would be the tensor of that value which becomes a view.
                            : (io_[view] & kMovedTo) != 0 ? "another value is moved to"
                                                          : nullptr;
  if (wrong == nullptr) {
    bases_[view] = base;
    return Error::Ok;
  }
  PETREL_LOG(Error, "method \"%.64s\": instruction %u:%u makes value %u a view, which %s",
             declared_.name().data(), call.chain, call.instruction, view, wrong);
  return Error::InvalidProgram;
}

// A planned view would keep the caller's memory after the call.
Error Aliases::check_views() {
  for (uint32_t view = 0; view < bases_.size(); ++view) {
    if (bases_[view] == kNone || !tensor(view)->is_planned()) continue;
    Shared shared;
    if (!find_shared(view, &shared)) return Error::NotSupported;
    for (size_t i = 0; i < shared.size; ++i) {
      if (place_of(shared.values[i]).kind != Place::Kind::Caller) continue;
      PETREL_LOG(Error,
                 "method \"%.64s\": value %u is planned, but a view of value %u, whose memory is "
                 "the caller's",
                 declared_.name().data(), view, shared.values[i]);
      return Error::InvalidProgram;
    }
  }
  return Error::Ok;
}

}  // namespace petrel::runtime
