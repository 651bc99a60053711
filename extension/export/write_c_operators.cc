// SPDX-License-Identifier: Apache-2.0
//
// Prints docs/portable_c_operators.md: which kernels exist in generated C, for which dtypes, and
// why the others do not.
//
//   write_c_operators > docs/portable_c_operators.md
//
// Fails where a kernel is neither in C nor given a reason, or is both.
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/emit_c/operator_list.h"
#include "exir/ir/scalar_type.h"
#include "exir/ops/table.h"
#include "extension/export/operator_dtypes.h"
#include "runtime/kernels/portable/kernels.h"

namespace petrel::extension {
namespace {

using exir::OpInfo;
using exir::ScalarType;
using exir::emit_c::COperator;

constexpr const char* kHead =
    R"(# Operators of generated C

Which kernels exist in C ([portable_c.md](portable_c.md)).
`./bazelw run //extension/export:write_c_operators` writes this page from the tables of the
compiler, and `//docs:operators_test` says when it is old.

- *in C*: `yes`; `fixed sizes`, where it refuses sizes that vary; or `no`
- *dtypes*: of tensors, all of one dtype, that the compiler's rule accepts, `all` being f16, bf16,
  f32, f64, u8, i8, i16, i32, i64 and bool; empty where more than dtypes decides. Kernels may know
  fewer
)";

// Of ExecuTorch's portable library, that do not exist in C.
const std::map<std::string, const char*>& reasons() {
  constexpr const char* kLater = "not yet";
  constexpr const char* kRandom = "not wanted: random";
  constexpr const char* kTraining = "not wanted: training";
  constexpr const char* kComplex = "not wanted: complex numbers";
  constexpr const char* kDevice = "not wanted: there are no devices";
  constexpr const char* kRewritten = "not needed: export computes it by others";
  static const auto* const kAll = new std::map<std::string, const char*>{
      {"aten::_cdist_forward.out", kRewritten},
      {"aten::_conj_physical.out", kComplex},
      {"aten::_native_batch_norm_legit.out", "not wanted: training; export refuses it"},
      {"aten::_pdist_forward.out", kLater},
      {"aten::arange.out", "not needed: export writes `aten::arange.start_out`"},
      {"aten::convolution_backward.out", kTraining},
      {"aten::copy_", "not needed: state is written at the end of a run"},
      {"aten::masked_scatter.out", kRewritten},
      {"aten::max_pool2d_with_indices_backward.grad_input", kTraining},
      {"aten::native_dropout.out", kRandom},
      {"aten::rand.out", kRandom},
      {"aten::randn.out", kRandom},
      {"aten::reflection_pad3d.out", kRewritten},
      {"aten::replication_pad3d.out", kRewritten},
      {"aten::view_as_real_copy.out", kComplex},
      {"dim_order_ops::_empty_dim_order.out", "not needed: export writes `aten::empty.out`"},
      {"et_copy::_d2h_copy.out", kDevice},
      {"et_copy::_h2d_copy.out", kDevice},
  };
  return *kAll;
}

// Not in ExecuTorch's portable library.
bool is_ours(const std::string& kernel) {
  return kernel == "aten::linear.out" || absl::StartsWith(kernel, "petrel::") ||
         absl::StartsWith(kernel, "quantized_decomposed::") || absl::StartsWith(kernel, "llama::");
}

// What the rules of all operators that call a kernel accept.
std::map<std::string, std::set<ScalarType>> dtypes_by_kernel() {
  std::map<std::string, std::set<ScalarType>> all;
  for (const OpInfo* op : exir::all_ops()) {
    if (op->out_name.empty()) continue;
    const std::string kernel =
        op->out_overload.empty() ? op->out_name : absl::StrCat(op->out_name, ".", op->out_overload);
    for (const ScalarType dtype : accepted_dtypes(*op)) all[kernel].insert(dtype);
  }
  return all;
}

std::string text_of(const std::set<ScalarType>& dtypes) {
  constexpr size_t kAll = 10;  // as the page says
  return dtypes.size() == kAll ? "all" : dtypes_text(dtypes);
}

int write() {
  std::map<std::string, COperator> in_c;
  for (const COperator& op : exir::emit_c::c_operators()) in_c[op.kernel] = op;
  std::set<std::string> theirs, ours;
  for (const auto& [kernel, op] : in_c) (is_ours(kernel) ? ours : theirs).insert(kernel);
  const size_t existing = theirs.size();
  for (const auto& [kernel, reason] : reasons()) {
    if (theirs.insert(kernel).second) continue;
    std::fprintf(stderr, "%s exists in C, and has a reason why not\n", kernel.c_str());
    return 1;
  }
  for (const runtime::Kernel& kernel : runtime::portable_kernels()) {
    if (is_ours(kernel.name) || theirs.count(kernel.name) > 0) continue;
    std::fprintf(stderr, "%s does not exist in C, and nothing says why\n", kernel.name);
    return 1;
  }
  std::printf(
      "%s\nOf the %zu kernels of ExecuTorch's portable library %zu exist in C:\n\n"
      "| kernel | in C | dtypes | why not |\n|---|---|---|---|\n",
      kHead, theirs.size(), existing);
  const auto dtypes = dtypes_by_kernel();
  const auto row = [&](const std::string& kernel) {
    const auto found = in_c.find(kernel);
    const auto accepted = dtypes.find(kernel);
    const bool exists = found != in_c.end();
    std::printf("| `%s` | %s | %s | %s |\n", kernel.c_str(),
                !exists                             ? "no"
                : found->second.takes_varying_sizes ? "yes"
                                                    : "fixed sizes",
                exists && accepted != dtypes.end() ? text_of(accepted->second).c_str() : "",
                exists ? "" : reasons().at(kernel));
  };
  for (const std::string& kernel : theirs) row(kernel);
  std::printf(
      "\nThese exist besides:\n\n| kernel | in C | dtypes | why not |\n|---|---|---|---|\n");
  for (const std::string& kernel : ours) row(kernel);
  return 0;
}

}  // namespace
}  // namespace petrel::extension

int main() { return petrel::extension::write(); }
