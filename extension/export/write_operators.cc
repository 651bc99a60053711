// SPDX-License-Identifier: Apache-2.0
//
// Prints docs/operators.md from the operator table: what each operator takes, in order,
// its traits, the dtypes of tensors that its shape rule accepts, and who runs it.
//
//   write_operators > docs/operators.md
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/ops/table.h"
#include "extension/export/operator_dtypes.h"
#include "runtime/kernels/optimized/kernels.h"
#include "runtime/kernels/portable/kernels.h"

namespace petrel::extension {
namespace {

using exir::ArgKind;
using exir::ArgSpec;
using exir::Argument;
using exir::OpInfo;

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
                arguments_text(*op).c_str(), traits_text(*op).c_str(),
                dtypes_text(accepted_dtypes(*op)).c_str(), runners_text(*op).c_str());
  }
  return 0;
}
