// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/places.h"

#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"

namespace petrel::exir::emit_c {
namespace {

constexpr char kNowhere[] = "NULL";

std::string plus(const std::string& address, const std::string& offset) {
  return offset.empty() ? address : absl::StrCat(address, " + ", offset);
}

}  // namespace

bool Places::has_symbol(const Value* value) const {
  const Value* root = method_.storage->root(value);
  return root->is_constant() && !root->constant()->is_mutable();
}

std::string Places::bytes(const Value* value) const {
  if (!known_.has_value()) return kNowhere;
  const Value* root = method_.storage->root(value);
  const auto borrowed = known_->borrowed.find(root);
  if (borrowed != known_->borrowed.end()) return borrowed->second + " + 0";
  const auto planned = method_.plan.offsets.find(root);
  if (planned == method_.plan.offsets.end()) {
    const int64_t offset = known_->state.offsets.at(root->constant()->fqn);
    return absl::StrCat(known_->memories.back().variable, " + ", offset);
  }
  const auto pool = method_.plan.pools.find(root);
  const size_t memory = pool == method_.plan.pools.end() ? 0 : static_cast<size_t>(pool->second);
  return absl::StrCat(known_->memories[memory].variable, " + ", planned->second);
}

std::string Places::typed(const Value* value, const std::string& offset,
                          const char* qualifier) const {
  return plus(absl::StrCat("(", qualifier, c_type(value->tensor().dtype), " *)(", qualifier,
                           "void *)(", bytes(value), ")"),
              offset);
}

std::string Places::read(const Value* value, const std::string& offset) const {
  if (!has_symbol(value)) return typed(value, offset, "const ");
  if (!known_.has_value()) return plus(kNowhere, offset);
  return plus(known_->symbols.at(method_.storage->root(value)->constant().get()), offset);
}

std::string Places::write(const Value* value, const std::string& offset) const {
  return typed(value, offset, "");
}

std::string Places::scratch(const Node& node, const std::string& type, int64_t offset) const {
  if (!known_.has_value()) return kNowhere;
  const KernelScratch& place = method_.plan.scratch_places.at(&node);
  return absl::StrCat("(", type, " *)(void *)(",
                      known_->memories[static_cast<size_t>(place.pool)].variable, " + ",
                      place.offset + offset, ")");
}

}  // namespace petrel::exir::emit_c
