// SPDX-License-Identifier: Apache-2.0
//
// RefusalCounts: how many of the damaged files of a test are refused with which words,
// held to a table in the repository. A check that is lost, or asked later than another
// one, moves some of them from one line to another.
//
//   RefusalCounts counts("test/refusals/archives/state.txt");
//   for (...) counts.add("mask.pt2", message);    // "" for a file that was taken
//   counts.expect_as_recorded();                  // fails, and names the lines that differ
//
//   mask.pt2 | 312 | node '_' has no argument _
//   mask.pt2 | 41 | taken
//
// Numbers and quoted words of a message are `_`, so that messages of one check are one line.
// The table is written anew, into the working tree, with
//
//   PETREL_WRITE_REFUSALS=1 ./bazelw run --test_sharding_strategy=disabled
//       //test/refusals:archives_test
#ifndef PETREL_TEST_REFUSALS_REFUSAL_COUNTS_H_
#define PETREL_TEST_REFUSALS_REFUSAL_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace petrel::refusals {

// "offset 12 of 'w' is outside" as "offset _ of '_' is outside"; at most 160 characters.
std::string words_of(const std::string& message);

class RefusalCounts final {
 public:
  // `table` is a path in the repository, which the test has among its data.
  explicit RefusalCounts(std::string table) : table_(std::move(table)) {}

  // `seed` is the file that was damaged and how: a few words.
  void add(const std::string& seed, const std::string& message);

  void expect_as_recorded() const;

  // All lines, sorted.
  std::string text() const;

 private:
  std::string table_;
  std::map<std::pair<std::string, std::string>, int64_t> counts_;
};

}  // namespace petrel::refusals

#endif  // PETREL_TEST_REFUSALS_REFUSAL_COUNTS_H_
