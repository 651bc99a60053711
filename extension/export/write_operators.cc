// SPDX-License-Identifier: Apache-2.0
//
// Prints docs/operators.md from the operator table: what each operator takes, in order,
// its traits, the dtypes of tensors that its shape rule accepts, and who runs it.
//
//   write_operators > docs/operators.md
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/ir/graph.h"
#include "exir/ir/scalar_type.h"
#include "exir/ops/table.h"
#include "runtime/kernels/optimized/kernels.h"
#include "runtime/kernels/portable/kernels.h"

namespace petrel::extension {
namespace {

using exir::ArgKind;
using exir::ArgSpec;
using exir::Argument;
using exir::OpInfo;
using exir::ScalarType;

constexpr const char* kHead =
    R"(# Operators

What a `Partitioner` may be asked about, for those who write one ([backend.md](backend.md)).
`./bazelw run //extension/export:write_operators` writes this page from the operator table, and
`//docs:operators_test` says when it is old.

Arguments are in the order of `node.arguments()`. Code calls them `exir::arg::self` and so on, and
operators `exir::aten::add_Tensor`. `[]` is a list, `?` may be none, `=` what counts where a model
gives nothing.

- *traits*: pure (no effect but its results), elementwise, view (of its first argument), reduction,
  in place, identity (its result is its first argument), effect (no results), random
- *dtypes*: of tensors, all of one dtype, that the compiler's rule accepts; empty where more than
  dtypes decides. Kernels may know fewer
- *runs on*: libraries of kernels, and XNNPACK, which takes some of the nodes: `--report` says
  which. What nobody runs is rewritten before anything runs, as all that is in place and most
  views are, or refused by name

| operator | arguments | traits | dtypes | runs on |
|---|---|---|---|---|
)";

const char* kind_name(ArgKind kind) {
  switch (kind) {
    case ArgKind::kTensor:
      return "Tensor";
    case ArgKind::kScalar:
      return "Scalar";
    case ArgKind::kInt:
      return "int";
    case ArgKind::kFloat:
      return "float";
    case ArgKind::kBool:
      return "bool";
    case ArgKind::kString:
      return "str";
    case ArgKind::kScalarType:
      return "ScalarType";
    case ArgKind::kLayout:
      return "Layout";
    case ArgKind::kDevice:
      return "Device";
    case ArgKind::kMemoryFormat:
      return "MemoryFormat";
  }
  return "?";
}

std::string default_text(const Argument& value) {
  if (value.is_none()) return "none";
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_number()) return absl::StrCat(value.as_number());
  if (value.is_string()) return absl::StrCat("'", value.as_string(), "'");
  if (value.is_ints()) return absl::StrCat("[", absl::StrJoin(value.as_ints(), ","), "]");
  return "...";
}

std::string arguments_text(const OpInfo& op) {
  std::vector<std::string> texts;
  for (const ArgSpec& arg : op.args) {
    std::string text = absl::StrCat(arg.name, " ", kind_name(arg.kind));
    if (arg.has_optional_items) text += "?";
    if (arg.is_list) text += "[]";
    if (arg.is_optional) text += "?";
    if (arg.has_default) absl::StrAppend(&text, "=", default_text(arg.default_value));
    texts.push_back(std::move(text));
  }
  return absl::StrJoin(texts, ", ");
}

std::string traits_text(const OpInfo& op) {
  std::vector<std::string> texts;
  for (const auto& [trait, name] :
       std::vector<std::pair<exir::OpTrait, const char*>>{{exir::kPure, "pure"},
                                                          {exir::kElementwise, "elementwise"},
                                                          {exir::kView, "view"},
                                                          {exir::kReduction, "reduction"},
                                                          {exir::kInPlace, "in place"},
                                                          {exir::kIdentity, "identity"},
                                                          {exir::kEffect, "effect"},
                                                          {exir::kRandom, "random"}}) {
    if (op.has(trait)) texts.push_back(name);
  }
  return absl::StrJoin(texts, ", ");
}

// Plain arguments: tensors of `dtype` and `sizes`, and `number` where the operator wants one.
std::vector<Argument> plain_arguments(const OpInfo& op, ScalarType dtype,
                                      const std::vector<int64_t>& sizes, int64_t number,
                                      exir::Graph* graph) {
  std::vector<Argument> arguments;
  for (const ArgSpec& arg : op.args) {
    if (arg.has_default || (arg.is_optional && arg.kind != ArgKind::kTensor)) {
      arguments.push_back(arg.has_default ? arg.default_value : Argument());
    } else if (arg.kind == ArgKind::kTensor) {
      exir::Value* tensor = graph->add_input(exir::TensorType::contiguous(dtype, sizes), arg.name);
      arguments.push_back(arg.is_list ? Argument::of_values({tensor, tensor}) : Argument(tensor));
    } else if (arg.is_list) {
      arguments.emplace_back(Argument::Ints(arg.fixed_length > 0 ? arg.fixed_length : 1, number));
    } else if (arg.kind == ArgKind::kFloat) {
      arguments.emplace_back(0.5);
    } else if (arg.kind == ArgKind::kBool) {
      arguments.emplace_back(false);
    } else if (arg.kind == ArgKind::kString) {
      arguments.emplace_back(std::string("none"));
    } else {
      arguments.emplace_back(number);
    }
  }
  return arguments;
}

bool accepts(const OpInfo& op, ScalarType dtype) {
  for (size_t rank = 1; rank <= 4; ++rank) {
    for (const int64_t number : {1, 4}) {
      exir::Graph graph("probe");
      const std::vector<int64_t> sizes(rank, 4);
      if (op.infer(op, plain_arguments(op, dtype, sizes, number, &graph)).ok()) return true;
    }
  }
  return false;
}

std::string dtypes_text(const OpInfo& op) {
  bool has_tensor = false;
  for (const ArgSpec& arg : op.args) has_tensor |= arg.kind == ArgKind::kTensor;
  if (!has_tensor || op.infer == nullptr) return "";
  const std::vector<ScalarType> all = {
      ScalarType::kFloat, ScalarType::kHalf, ScalarType::kBFloat16, ScalarType::kDouble,
      ScalarType::kByte,  ScalarType::kChar, ScalarType::kShort,    ScalarType::kInt,
      ScalarType::kLong,  ScalarType::kBool};
  std::vector<std::string> names;
  std::set<ScalarType> accepted;
  for (const ScalarType dtype : all) {
    if (!accepts(op, dtype)) continue;
    accepted.insert(dtype);
    names.emplace_back(exir::scalar_type_name(dtype));
  }
  if (accepted.size() == all.size()) return "all";
  const std::set<ScalarType> floats(all.begin(), all.begin() + 4);
  if (accepted == floats) return "floats";
  std::set<ScalarType> numbers(all.begin(), all.end() - 1);
  if (accepted == numbers) return "all but bool";
  return absl::StrJoin(names, " ");
}

bool has_kernel(runtime::Span<const runtime::Kernel> kernels, const std::string& name) {
  for (const runtime::Kernel& kernel : kernels) {
    if (name == kernel.name) return true;
  }
  return false;
}

std::string runners_text(const OpInfo& op) {
  std::vector<std::string> texts;
  const std::string out = absl::StrCat(op.out_name, ".", op.out_overload);
  if (has_kernel(runtime::portable_kernels(), out)) texts.push_back("portable");
  if (has_kernel(runtime::optimized_kernels(), out)) texts.push_back("optimized");
  if (backends::xnnpack::aot::xnnpack_backend()->partitioner().keeps(op)) {
    texts.push_back("XNNPACK");
  }
  return absl::StrJoin(texts, ", ");
}

}  // namespace
}  // namespace petrel::extension

int main() {
  using namespace petrel::extension;  // NOLINT: the only content of this file
  std::fputs(kHead, stdout);
  for (const OpInfo* op : petrel::exir::all_ops()) {
    std::printf("| `%s` | %s | %s | %s | %s |\n", op->full_name().c_str(),
                arguments_text(*op).c_str(), traits_text(*op).c_str(), dtypes_text(*op).c_str(),
                runners_text(*op).c_str());
  }
  return 0;
}
