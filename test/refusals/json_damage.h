// SPDX-License-Identifier: Apache-2.0
//
// JsonDamage: JSON with one thing in it changed, for each thing and each change in turn.
// Values become others, those of another kind, and those that stand under the same name
// elsewhere in the text; members and items go or come twice; names become others of
// their family (as_int, as_tensor).
//
//   JsonDamage damage(/*times=*/2);
//   damage.each(text, [](const std::string& changed) { ... });
//
// What has the same place in its text, as have the second items of two lists, is changed `times`
// times over all texts; calls of two operators are two places. No text comes up by chance.
#ifndef PETREL_TEST_REFUSALS_JSON_DAMAGE_H_
#define PETREL_TEST_REFUSALS_JSON_DAMAGE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace petrel::refusals {

class JsonDamage final {
 public:
  explicit JsonDamage(int times = 1) : times_(times) {}

  // `text` is right JSON.
  void each(const std::string& text, const std::function<void(const std::string&)>& use);

 private:
  int times_;
  std::map<std::string, int> seen_;  // how often what has this place was changed
};

}  // namespace petrel::refusals

#endif  // PETREL_TEST_REFUSALS_JSON_DAMAGE_H_
