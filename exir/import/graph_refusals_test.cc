// SPDX-License-Identifier: Apache-2.0
//
// What the importer says of nodes that no exporter writes, each put into a small archive.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/import/import.h"
#include "exir/import/test_archive.h"
#include "exir/import/test_fixtures.h"

namespace petrel::exir {
namespace {

std::string refusal_of(const TestArchive& archive) {
  const std::string path = archive.save("refused");
  const absl::Status status = import_pt2(path, "forward").status();
  return status.ok() ? "taken" : std::string(status.message());
}

// {"name": NAME, "arg": ARG}
std::string input(const std::string& name, const std::string& arg) {
  return absl::StrCat("{\"name\": \"", name, "\", \"arg\": ", arg, "}");
}

std::string named(const std::string& kind, const std::string& name) {
  const char* const key = kind == "as_tensor" ? "name" : "as_name";
  return absl::StrCat("{\"", kind, "\": {\"", key, "\": \"", name, "\"}}");
}
std::string tensor(const std::string& name) { return named("as_tensor", name); }
std::string tensors(const std::vector<std::string>& names) {
  return absl::StrCat("{\"as_tensors\": [{\"name\": \"", absl::StrJoin(names, "\"}, {\"name\": \""),
                      "\"}]}");
}

std::string node(const std::string& target, const std::vector<std::string>& inputs,
                 const std::string& output = tensor("made")) {
  return absl::StrCat("{\"target\": \"torch.ops.", target, "\", \"inputs\": [",
                      absl::StrJoin(inputs, ", "), "], \"outputs\": [", output,
                      "], \"metadata\": {}}");
}

// A graph with one input and no nodes.
std::string body(const std::vector<std::string>& inputs, const std::string& output,
                 const std::string& nodes = "") {
  return absl::StrCat("{\"as_graph\": {\"name\": \"body\", \"graph\": {\"inputs\": [",
                      absl::StrJoin(inputs, ", "), "], \"outputs\": [", output, "], \"nodes\": [",
                      nodes, "], \"tensor_values\": {}, \"sym_int_values\": {}}}}");
}

struct Case {
  std::string node;
  const char* message;
};

// Of x: f32[2,3], gt: bool[2,3], index: f32[u0], and sym_size_int, which is u0.
void expect_refused(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    TestArchive archive = TestArchive::of(own_fixture("mask"));
    archive.edit_program("{\"target\": \"torch.ops.aten._assert_scalar.default\"",
                         one.node + ", {\"target\": \"torch.ops.aten._assert_scalar.default\"");
    const std::string message = refusal_of(archive);
    EXPECT_TRUE(absl::EndsWith(message, one.message)) << message << "\nmust say: " << one.message;
  }
}

TEST(GraphRefusals, OfNumbersWhereOthersStand) {
  const std::string number = named("as_sym_int", "sym_size_int");
  const std::string dim = input("dim", R"({"as_int": 0})");
  expect_refused({
      {node("aten.mul.Scalar",
            {input("self", tensor("x")), input("other", named("as_sym_int", "gt"))}),
       "'as_sym_int' does not fit the argument's type"},
      {node("aten.select.int",
            {input("self", tensor("x")), dim, input("index", named("as_sym_bool", "ge"))}),
       "is computed at run time, where only literals are supported"},
      {node("aten.cat.default", {input("tensors", number)}),
       "is computed at run time, where only literals are supported"},
      {node("aten.add.Tensor", {input("self", tensor("x")), input("other", tensor("x")),
                                input("alpha", R"({"as_string": "a"})")}),
       "'as_string' does not fit the argument's type"},
      {node("aten.view.default",
            {input("self", tensor("x")), input("size", R"({"as_float": 6.0})")}),
       "'as_float' does not fit the argument's type"},
      {node("aten.cat.default", {input("tensors", R"({"as_int": 1})")}),
       "'as_int' does not fit the argument's type"},
      {node("aten.view.default",
            {input("self", tensor("x")), input("size", R"({"as_sym_ints": [{"as_bool": true}]})")}),
       "is not an integer"},
      {node("aten.view.default",
            {input("self", tensor("x")), input("size", R"({"as_sym_ints": [{"as_name": "ge"}]})")}),
       "is not an integer"},
  });
}

TEST(GraphRefusals, OfCallsWithOut) {
  const std::string self = input("self", tensor("x"));
  const std::string out = input("out", tensor("gt"));
  expect_refused({
      {node("aten.fft_fft.out", {self, out}),
       "is not supported with 'out', as an operator of complex numbers"},
      {node("aten.relu.out", {self, input("out", tensor("index"))}),
       "'out' is f32[u0], the result is f32[2,3]"},
      {node("aten.relu.out", {self, out}, ""), "has 0 results, its operator gives 1"},
      {node("aten.relu.out", {self, input("out", tensor("sym_size_int"))}),
       "what 'made' is written to is not a tensor"},
      {node("aten.sum.default", {self}, tensor("s")) + ", " +
           node("aten._local_scalar_dense.out", {input("self", tensor("s")), out}),
       "what 'made' is written to is not a tensor"},
      {node("aten.split.Tensor_out", {self, input("split_size", R"({"as_int": 1})"), out}),
       "1 operator is not supported: aten.split.Tensor_out (node 'made')"},
      {R"({"target": "torch.ops.aten.relu.out", "inputs": 3, "outputs": [], "name": "made"})",
       "1 operator is not supported: aten.relu.out (node 'made')"},
      {node("relu_out", {self, out}), "1 operator is not supported: relu_out (node 'made')"},
  });
}

TEST(GraphRefusals, OfConditions) {
  const std::string x = tensor("x");
  const std::string same = body({x}, x);
  const auto cond = [&](const std::string& predicate, const std::string& operands) {
    return node("higher_order.cond",
                {input("", predicate), input("", same), input("", same), input("", operands)});
  };
  expect_refused({
      {cond(tensor("gt"), tensors({"x"})), "the predicate is bool[2,3], must be bool[]"},
      {cond(R"({"as_int": 1})", tensors({"x"})), "the predicate is not a bool"},
      {cond(R"({"as_bool": true})", R"({"as_sym_ints": [{"as_int": 1}]})"),
       "a number that is known is not supported here"},
      {cond(R"({"as_bool": true})", R"({"as_sym_bools": [{"as_name": "ge"}]})"),
       "operands of kind 'as_sym_bools' are not supported"},
      {cond(R"({"as_bool": true})", tensors({"x", "x"})),
       "inputs: has 1 items, the node has 2 operands"},
  });
}

TEST(GraphRefusals, OfLoops) {
  const std::string x = tensor("x");
  const std::string none = R"({"as_tensors": []})";
  const auto map = [&](const std::string& graph, const std::string& rows,
                       const std::string& operands) {
    return node("higher_order.map_impl", {input("", graph), input("", rows), input("", operands)});
  };
  const auto loop = [&](const std::string& condition, const std::string& graph) {
    return node("higher_order.while_loop", {input("", condition), input("", graph),
                                            input("", tensors({"x"})), input("", none)});
  };
  const std::string numbers = R"({"as_sym_ints": [{"as_name": "sym_size_int"}]})";
  const std::string any = node("aten.any.default", {input("self", x)}, tensor("b"));
  const std::string go = body({x}, tensor("b"), any);
  expect_refused({
      {map(body({}, x), none, none), "maps over nothing"},
      {map(body({x}, x), numbers, none), "maps over 'sym_size_int', which has no rows"},
      {node("aten.sum.default", {input("self", x)}, tensor("s")) + ", " +
           map(body({x}, x), tensors({"s"}), none),
       "maps over 's', which has no rows"},
      {map(body({x, named("as_sym_int", "n")}, named("as_sym_int", "n")), tensors({"x"}), numbers),
       "result 'n' of its graph is not a tensor"},
      {loop(body({x}, x), body({x}, x)), "the condition gives f32[2,3], must give bool[]"},
      {loop(body({x}, ""), body({x}, x)), "the condition gives 0 results, must give bool[]"},
      {loop(go, body({x}, "")), "graph 'body' gives 0 results, carried are 1"},
      {loop(go, body({x}, x + ", " + x)), "the body gives 2 results, must give 1"},
  });
}

struct Edit {
  const char* from;
  const char* to;
  const char* message;
};

void expect_edits(const std::string& path, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    TestArchive archive = TestArchive::of(path);
    archive.edit_program(edit.from, edit.to);
    const std::string message = refusal_of(archive);
    EXPECT_TRUE(absl::EndsWith(message, edit.message)) << message << "\nmust say: " << edit.message;
  }
}

TEST(GraphRefusals, OfSizesByData) {
  expect_edits(
      "test/models/varying/masked_places.pt2",
      {{"\"getitem_2\": {\"dtype\"", "\"gone\": {\"dtype\"", "value 'getitem_2' has no type"},
       {"\"getitem_2\": {\"dtype\": 5, \"sizes\": [",
        "\"getitem_2\": {\"dtype\": 5, \"sizes\": [], \"was\": [",
        "value 'getitem_2' has rank 0 in the archive"},
       {"\"getitem_2\": {\"dtype\": 5, \"sizes\": [",
        "\"getitem_2\": {\"dtype\": 5, \"sizes\": [{\"as_int\": 28}], \"was\": [",
        "value 'getitem_2' is i64[28] in the archive, but its operator gives at most 27"},
       {"\"outputs\": [{\"as_tensors\": [{\"name\": \"getitem_2\"}, ",
        "\"outputs\": [{\"as_tensors\": [", "has 1 results, its operator gives 2"}});
}

TEST(GraphRefusals, OfStrides) {
  expect_edits(own_fixture("strided_rows"),
               {{"\"slice_1\": {", "\"gone\": {", "value 'slice_1' has no type"},
                {"\"slice_1\": {\"dtype\": 7, \"sizes\": [{\"as_int\": 3}, {\"as_int\": 4}], "
                 "\"requires_grad\": false, \"device\": {\"type\": \"cpu\", \"index\": null}, "
                 "\"strides\": [",
                 "\"slice_1\": {\"dtype\": 7, \"sizes\": [{\"as_int\": 3}, {\"as_int\": 4}], "
                 "\"strides\": [{\"as_int\": 12}, ",
                 "tensor_values.slice_1.strides: has 3 items, must have 2"}});
}

TEST(GraphRefusals, OfState) {
  const auto refused = [](const char* fixture, const std::string& from, const std::string& to) {
    TestArchive archive = TestArchive::of(shared_fixture(fixture));
    archive.edit_program(from, to);
    return refusal_of(archive);
  };
  EXPECT_TRUE(absl::EndsWith(
      refused("input_mutation", "\"user_input_name\": \"args_0\"", "\"user_input_name\": \"add\""),
      "write to input 'add': it is not an input"));
  EXPECT_TRUE(absl::StrContains(
      refusal_of(TestArchive::of("test/models/complex/refused_input.pt2")),
      "is a tensor of complex numbers, which is not supported; let the model take"));
  const std::string write =
      R"({"buffer_mutation": {"arg": {"name": "add"}, "buffer_name": "total"}})";
  TestArchive archive = TestArchive::of(shared_fixture("buffer_mutation_functional"));
  archive.edit_program("\"output_specs\": [", "\"output_specs\": [" + write + ", ");
  archive.edit_program("], \"nodes\": [", ", {\"as_tensor\": {\"name\": \"add\"}}], \"nodes\": [");
  EXPECT_TRUE(absl::EndsWith(refusal_of(archive), "write to 'total': it is written twice"))
      << refusal_of(archive);
}

}  // namespace
}  // namespace petrel::exir
