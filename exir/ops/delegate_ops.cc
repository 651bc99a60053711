// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

constexpr OpRow kRows[] = {
    // A call of a lowered partition. The partition gives its result types.
    {"petrel::delegate_call(Tensor[] inputs) -> Tensor[]", "", kPure, nullptr},
    // The results of the first region where the predicate is true, else those
    // of the second.
    {"petrel::cond(Tensor predicate, Tensor[] operands) -> Tensor[]", "", kPure, nullptr},
    // The results of the region for each row of `rows`, stacked.
    {"petrel::map(Tensor[] rows, Tensor[] operands) -> Tensor[]", "", kPure, nullptr},
    // The same with values that each row hands to the next; these come first.
    {"petrel::scan(Tensor[] carried, Tensor[] rows, Tensor[] operands) -> Tensor[]", "", kPure,
     nullptr},
    // What is carried when the first region gives false: the second gives it anew.
    {"petrel::while_loop(Tensor[] carried, Tensor[] operands) -> Tensor[]", "", kPure, nullptr},
};

}  // namespace

absl::Span<const OpRow> delegate_ops() { return kRows; }

}  // namespace petrel::exir::rules
