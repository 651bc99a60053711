// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/refuted_states.h"

#include <utility>

namespace petrel::exir::plan {
namespace {

// Of one state beside its bytes: the string, the link to the next one, the hash.
constexpr size_t kOverhead = sizeof(std::string) + 4 * sizeof(void*);

}  // namespace

void RefutedStates::add(std::string state) {
  const size_t bytes = state.size() + kOverhead;
  if (bytes > max_bytes_ - bytes_) return;
  if (states_.insert(std::move(state)).second) bytes_ += bytes;
}

void RefutedStates::clear() {
  states_.clear();
  bytes_ = 0;
}

}  // namespace petrel::exir::plan
