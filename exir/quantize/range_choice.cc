// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/range_choice.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace petrel::exir {
namespace {

constexpr char kPercentile[] = "percentile";
constexpr double kLeastPercent = 50;
constexpr double kMostPercent = 100;

}  // namespace

absl::StatusOr<RangeChoice> parse_range_choice(const std::string& word) {
  RangeChoice choice;
  if (word == "min-max") return choice;
  if (word == "least-error") {
    choice.kind = RangeChoice::Kind::kLeastError;
    return choice;
  }
  if (word == "by-outputs") {
    choice.kind = RangeChoice::Kind::kByOutputs;
    return choice;
  }
  choice.kind = RangeChoice::Kind::kPercentile;
  if (word == kPercentile) return choice;
  const std::string prefix = absl::StrCat(kPercentile, "=");
  if (!absl::StartsWith(word, prefix)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ranges is '", word,
        "', must be by-outputs, min-max, least-error, percentile or percentile=PERCENT"));
  }
  // Decimal digits only: SimpleAtod reads hexadecimal ones, too.
  const std::string number = word.substr(prefix.size());
  const bool is_number = number.find_first_not_of("0123456789.") == std::string::npos &&
                         absl::SimpleAtod(number, &choice.percent);
  if (is_number && choice.percent >= kLeastPercent && choice.percent <= kMostPercent) return choice;
  return absl::InvalidArgumentError(absl::StrCat("ranges is '", word,
                                                 "', its percentage must be a number from ",
                                                 kLeastPercent, " to ", kMostPercent));
}

}  // namespace petrel::exir
