// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/instruction_list.h"

#include "absl/strings/str_cat.h"

namespace petrel::exir {

namespace fb = ::petrel::schema::program;

void InstructionList::append_kernel(const std::string& name, const std::string& overload,
                                    const std::vector<int32_t>& args) {
  auto [it, fresh] = operator_index_.emplace(std::make_pair(name, overload),
                                             static_cast<int32_t>(operators_.size()));
  if (fresh) {
    const auto stored_name = builder_.CreateString(name);
    const auto stored_overload = builder_.CreateString(overload);
    operators_.push_back(fb::CreateOperator(builder_, stored_name, stored_overload));
    kernel_names_.push_back(overload.empty() ? name : absl::StrCat(name, ".", overload));
  }
  const auto call = fb::CreateKernelCall(builder_, it->second, builder_.CreateVector(args));
  instructions_.push_back(
      fb::CreateInstruction(builder_, fb::InstructionArguments::KernelCall, call.Union()));
  ++kernels_[kernel_names_[static_cast<size_t>(it->second)]];
}

void InstructionList::append_delegate(int32_t delegate, const std::vector<int32_t>& args) {
  const auto call = fb::CreateDelegateCall(builder_, delegate, builder_.CreateVector(args));
  instructions_.push_back(
      fb::CreateInstruction(builder_, fb::InstructionArguments::DelegateCall, call.Union()));
}

size_t InstructionList::reserve_jump() {
  instructions_.emplace_back();
  return instructions_.size() - 1;
}

void InstructionList::set_jump(size_t place, int32_t condition, size_t target) {
  const auto jump = fb::CreateJumpFalseCall(builder_, condition, static_cast<int32_t>(target));
  instructions_[place] =
      fb::CreateInstruction(builder_, fb::InstructionArguments::JumpFalseCall, jump.Union());
}

}  // namespace petrel::exir
