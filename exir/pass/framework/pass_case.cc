// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/pass_case.h"

#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/constant_data.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

ConstantPtr made_constant(const std::string& fqn, const TensorType& type) {
  uint32_t seed = 7;
  for (char c : fqn) seed = seed * 31 + static_cast<unsigned char>(c);
  std::vector<double> values;
  for (int64_t i = 0; i < type.numel(); ++i) {
    seed = seed * 1664525 + 1013904223;
    const double value = static_cast<double>(seed >> 24) / 64.0 + 0.25;
    values.push_back(is_floating_point(type.dtype) ? value : seed >> 30);
  }
  absl::StatusOr<Blob> data = encode_constant(values, type.dtype);
  if (!data.ok()) return nullptr;
  auto made = std::make_shared<Constant>();
  made->fqn = fqn;
  made->type = type;
  made->kind =
      absl::StartsWith(fqn, "state") ? Constant::Kind::kMutableBuffer : Constant::Kind::kParameter;
  made->data = *std::move(data);
  return made;
}

}  // namespace

std::unique_ptr<Graph> graph_of(const std::string& text) {
  auto graph = parse_graph(
      text, [](absl::string_view name) { return find_op(name); }, made_constant);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  if (!graph.ok()) return nullptr;
  const absl::Status valid = verify_graph(**graph);
  EXPECT_TRUE(valid.ok()) << valid << "\n" << text;
  return valid.ok() ? *std::move(graph) : nullptr;
}

std::string plain_text(const Graph& graph) {
  std::unique_ptr<Graph> copy = graph.clone();
  int number = 0;
  const auto rename = [&](Value* value, const std::string& name) {
    // Away first: the wanted name may be another's for now.
    copy->rename(value, absl::StrCat("\n", name));
  };
  std::vector<Value*> values = copy->inputs();
  for (const auto& node : copy->nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) {
      values.push_back(node->result(i));
    }
  }
  for (Value* value : values) rename(value, absl::StrCat(number++));
  for (Value* value : copy->constants()) {
    rename(value, value->constant()->fqn);
    values.push_back(value);
  }
  for (Value* value : values) copy->rename(value, value->name().substr(1));
  // Constants in the order of their names.
  const std::string text = print_graph(*copy);
  std::map<std::string, std::string> constants;
  std::string rest;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    if (absl::StrContains(line, " = constant @") || absl::StrContains(line, " = state @")) {
      constants[line] = line;
    } else {
      rest += line;
    }
    begin = end;
  }
  std::string out;
  for (const auto& [key, line] : constants) out += line;
  return out + rest;
}

std::string after_pass(PassFn pass, const std::string& text, const PassContext& context) {
  std::unique_ptr<Graph> graph = graph_of(text);
  if (graph == nullptr) return "";
  const std::string before = plain_text(*graph);
  absl::StatusOr<bool> changed = pass(*graph, context);
  EXPECT_TRUE(changed.ok()) << changed.status();
  if (!changed.ok()) return "";
  const absl::Status valid = verify_graph(*graph);
  EXPECT_TRUE(valid.ok()) << valid << "\n" << plain_text(*graph);
  const std::string after = plain_text(*graph);
  EXPECT_EQ(*changed, before != after);
  changed = pass(*graph, context);
  EXPECT_TRUE(changed.ok()) << changed.status();
  if (!changed.ok()) return "";
  EXPECT_FALSE(*changed) << "not idempotent:\n" << plain_text(*graph);
  EXPECT_EQ(plain_text(*graph), after);
  return after;
}

std::string expected(const std::string& text) {
  std::unique_ptr<Graph> graph = graph_of(text);
  return graph == nullptr ? "bad text" : plain_text(*graph);
}

std::string pass_error(PassFn pass, const std::string& text) {
  std::unique_ptr<Graph> graph = graph_of(text);
  if (graph == nullptr) return "";
  return std::string(pass(*graph, {}).status().message());
}

std::vector<double> constant_elements(const Graph& graph, const std::string& fqn) {
  for (const Value* value : graph.constants()) {
    if (value->constant()->fqn != fqn) continue;
    auto elements = decode_constant(*value->constant());
    EXPECT_TRUE(elements.ok()) << elements.status();
    return elements.ok() ? *elements : std::vector<double>();
  }
  ADD_FAILURE() << "no constant " << fqn;
  return {};
}

}  // namespace petrel::exir
