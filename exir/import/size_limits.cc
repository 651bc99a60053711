// SPDX-License-Identifier: Apache-2.0
#include "exir/import/size_limits.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace petrel::exir {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

}  // namespace

absl::StatusOr<SizeLimits> SizeLimits::read(const std::vector<std::string>& words) {
  SizeLimits limits;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    int64_t largest = 0;
    const bool is_limit = equals != std::string::npos && equals > 0 &&
                          absl::SimpleAtoi(word.substr(equals + 1), &largest);
    if (!is_limit || largest < 1 || largest > kLargest) {
      return absl::InvalidArgumentError(
          absl::StrCat("max-size is '", word, "', must be NAME=N with N from 1 to ", kLargest));
    }
    const std::string name = word.substr(0, equals);
    if (!limits.largest_.emplace(name, largest).second) {
      return absl::InvalidArgumentError(absl::StrCat("max-size ", name, " is given twice"));
    }
    limits.unused_.insert(name);
  }
  return limits;
}

SizeLimits SizeLimits::of_none() {
  SizeLimits limits;
  limits.is_of_none_ = true;
  return limits;
}

std::optional<int64_t> SizeLimits::find(const std::string& symbol, int64_t least) const {
  asked_.insert(symbol);
  // Small, so that few products of sizes leave int64_t.
  if (is_of_none_) return std::min(kLargest, std::max<int64_t>(1024, least * 4));
  auto found = largest_.find(symbol);
  if (found == largest_.end()) found = largest_.find("*");
  if (found == largest_.end()) return std::nullopt;
  unused_.erase(found->first);
  return found->second;
}

absl::Status SizeLimits::check() const {
  if (unused_.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "max-size ", *unused_.begin(), ": ",
      asked_.empty()
          ? "every size of the model has an upper bound"
          : absl::StrCat("the sizes without an upper bound are ", absl::StrJoin(asked_, ", "))));
}

}  // namespace petrel::exir
