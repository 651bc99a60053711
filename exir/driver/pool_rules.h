// SPDX-License-Identifier: Apache-2.0
//
// Rules of a user that put what a pattern names into a pool. Each must match something.
//
//   Pins pins(read_pool_rules({"relu*=sram"}), pools);
//   planned.allowed = pins.allowed();
//   ...                                   after planning
//   PETREL_RETURN_IF_ERROR(pins.check({}));
//
// What it hands out refers to it.
#ifndef PETREL_EXIR_DRIVER_POOL_RULES_H_
#define PETREL_EXIR_DRIVER_POOL_RULES_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/plan/formats/memory_pool.h"
#include "exir/plan/model/problem.h"

namespace petrel::exir {

// What the names of values or parameters match lies in a pool.
struct PoolRule {
  std::string glob;
  std::string pool;
};

// "GLOB=POOL"; names of values hold no '=', so the last one counts.
std::vector<PoolRule> read_pool_rules(const std::vector<std::string>& words);

// "--pin 'relu*=sram'".
std::string text_of(const char* option, const PoolRule& rule);

// The index of the pool of this name; as many as there are when there is none.
size_t index_of(const std::vector<plan::MemoryPool>& pools, const std::string& name);

// Rules for values, of which the first that matches counts.
class Pins {
 public:
  // Precondition: each names one of `pools`.
  Pins(const std::vector<PoolRule>& rules, const std::vector<plan::MemoryPool>& pools);
  Pins(const Pins&) = delete;
  Pins& operator=(const Pins&) = delete;

  // For MemoryPools.
  std::function<std::vector<plan::PoolIdx>(const std::set<std::string>& names)> allowed();
  // InvalidArgument for a rule that nothing has matched; `borrowed` are names of inputs and outputs
  // that lie where the caller has them.
  absl::Status check(const std::set<std::string>& borrowed) const;

 private:
  struct Rule {
    PoolRule given;
    size_t pool = 0;
    bool matched = false;
  };
  std::vector<Rule> rules_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_POOL_RULES_H_
