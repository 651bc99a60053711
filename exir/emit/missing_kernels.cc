// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/missing_kernels.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/emit/method_writer.h"

namespace petrel::exir {
namespace {

// Each once, those of operands before those of results.
std::string dtypes_of(const Node& node) {
  std::vector<std::string> names;
  const auto add = [&](const Value& value) {
    if (!value.type().is_tensor()) return;
    const std::string name(scalar_type_name(value.tensor().dtype));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Value* operand : node.operands()) add(*operand);
  for (size_t i = 0; i < node.num_results(); ++i) add(*node.result(i));
  return absl::StrJoin(names, ", ");
}

std::string describe(const MissingKernel& missing) {
  const bool one = missing.calls == 1;
  std::string text = missing.kernel;
  if (!missing.dtypes.empty()) absl::StrAppend(&text, " of ", missing.dtypes);
  absl::StrAppend(&text, " (", missing.calls, one ? " call" : " calls", " in method '",
                  missing.method, "'");
  if (!missing.node.empty()) {
    absl::StrAppend(&text, one ? " by node '" : ", the first by node '", missing.node, "' (",
                    missing.op, ")");
  }
  if (!missing.location.empty()) absl::StrAppend(&text, " at ", missing.location);
  return absl::StrCat(text, ")");
}

}  // namespace

MissingKernel missing_kernel(const std::string& method, const KernelUse& use) {
  MissingKernel missing;
  missing.method = method;
  missing.kernel = use.kernel;
  missing.calls = use.calls;
  if (use.first_caller == nullptr) return missing;
  const Node& node = *use.first_caller;
  missing.node = node.num_results() > 0 ? node.result()->name() : node.op().name;
  missing.op = node.op().full_name();
  missing.dtypes = dtypes_of(node);
  missing.location = node.source().location();
  return missing;
}

std::string describe_missing(const std::vector<MissingKernel>& missing) {
  std::string text = absl::StrCat(
      missing.size(), missing.size() == 1 ? " kernel is missing: " : " kernels are missing: ");
  bool first = true;
  for (const MissingKernel& one : missing) {
    absl::StrAppend(&text, first ? "" : ", ", describe(one));
    first = false;
  }
  return text;
}

}  // namespace petrel::exir
