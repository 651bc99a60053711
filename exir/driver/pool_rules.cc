// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/pool_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "exir/backend/weight_routes.h"

namespace petrel::exir {

std::vector<PoolRule> read_pool_rules(const std::vector<std::string>& words) {
  std::vector<PoolRule> rules;
  for (const std::string& word : words) {
    const size_t equals = word.rfind('=');
    // Without a pool the word stays whole, as messages show it.
    const bool is_whole = equals == std::string::npos || equals + 1 == word.size();
    rules.push_back({word.substr(0, is_whole ? std::string::npos : equals),
                     is_whole ? "" : word.substr(equals + 1)});
  }
  return rules;
}

std::string text_of(const char* option, const PoolRule& rule) {
  return absl::StrCat(option, " '", rule.glob, rule.pool.empty() ? "" : "=", rule.pool, "'");
}

size_t index_of(const std::vector<plan::MemoryPool>& pools, const std::string& name) {
  return static_cast<size_t>(
      std::find_if(pools.begin(), pools.end(), [&](const auto& one) { return one.name == name; }) -
      pools.begin());
}

Pins::Pins(const std::vector<PoolRule>& rules, const std::vector<plan::MemoryPool>& pools) {
  for (const PoolRule& rule : rules) rules_.push_back({rule, index_of(pools, rule.pool), false});
}

std::function<std::vector<plan::PoolIdx>(const std::set<std::string>& names)> Pins::allowed() {
  return [this](const std::set<std::string>& names) {
    std::vector<plan::PoolIdx> pools;
    for (Rule& rule : rules_) {
      if (std::none_of(names.begin(), names.end(), [&](const std::string& name) {
            return matches_glob(rule.given.glob, name);
          })) {
        continue;
      }
      rule.matched = true;
      if (pools.empty()) pools.push_back(static_cast<plan::PoolIdx>(rule.pool));
    }
    return pools;
  };
}

absl::Status Pins::check(const std::set<std::string>& borrowed) const {
  for (const Rule& rule : rules_) {
    if (rule.matched) continue;
    const auto found = std::find_if(
        borrowed.begin(), borrowed.end(),
        [&rule](const std::string& name) { return matches_glob(rule.given.glob, name); });
    return absl::InvalidArgumentError(absl::StrCat(
        text_of("--pin", rule.given), ": ",
        found == borrowed.end()
            ? "no value has such a name"
            : absl::StrCat("'", *found,
                           "' is an input or output, which lies where the caller has it with --io "
                           "caller; --io arena gives it a place in a pool")));
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
