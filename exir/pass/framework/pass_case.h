// SPDX-License-Identifier: Apache-2.0
//
// How passes are tested: text IR before and after. The pass runs, the result is
// verified and compared with the text after it (names of values do not count),
// then the pass runs again and must change nothing.
//
//   EXPECT_EQ(after_pass(remove_dead_code, before), expected(after));
#ifndef PETREL_EXIR_PASS_FRAMEWORK_PASS_CASE_H_
#define PETREL_EXIR_PASS_FRAMEWORK_PASS_CASE_H_

#include <memory>
#include <string>
#include <vector>

#include "exir/pass/framework/pass.h"
#include "gtest/gtest.h"

namespace petrel::exir {

// A row of a table of tests, by the name of what it shows: the body of one method
// before and after the pass.
struct PassCase {
  const char* name;
  const char* before;
  const char* after;
};

// The same for a method that has its own inputs, "%x: f32[2,3]".
struct MethodCase {
  const char* name;
  const char* inputs;
  const char* before;
  const char* after;

  std::string method_before() const { return method(before); }
  std::string method_after() const { return method(after); }

 private:
  std::string method(const char* body) const {
    return std::string("method @m(") + inputs + ") {" + body + "}";
  }
};

template <typename Case>
std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

// The graph of `text`, which may leave types to inference. A constant's i-th
// element is a small number made from its FQN and i; it is mutable when its
// FQN starts with "state". Fails the test and returns null for bad text.
std::unique_ptr<Graph> graph_of(const std::string& text);

// The text of `graph` with values renamed to %0, %1, ... in order (constants by
// their FQN).
std::string plain_text(const Graph& graph);

// plain_text after the pass; checks validity and idempotence, and that the pass
// says truly whether it changed something.
std::string after_pass(PassFn pass, const std::string& text, const PassContext& context = {});

// plain_text of the graph that `text` describes.
std::string expected(const std::string& text);

// The message with which the pass refuses the graph.
std::string pass_error(PassFn pass, const std::string& text);

// The elements of a constant of `graph`.
std::vector<double> constant_elements(const Graph& graph, const std::string& fqn);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_PASS_CASE_H_
