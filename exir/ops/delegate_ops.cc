// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir {
namespace {

constexpr OpRow kRows[] = {
    // A call of a lowered partition. The partition gives its result types.
    {"petrel::delegate_call(Tensor[] inputs) -> Tensor[]", "", kPure, nullptr},
};

}  // namespace

absl::Span<const OpRow> delegate_ops() { return kRows; }

}  // namespace petrel::exir
