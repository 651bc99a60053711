// SPDX-License-Identifier: Apache-2.0
//
// Every out-variant that the table names exists in upstream's kernel libraries
// and takes the arguments that the emitter will give it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ops/table.h"

namespace petrel::exir {
namespace {

struct Kernel {
  size_t outs = 0;
  std::vector<std::string> args;
};

// Lines of "aten::add.out 1 self other alpha".
std::map<std::string, Kernel> read_kernels() {
  std::map<std::string, Kernel> kernels;
  std::ifstream file("test/eager/cases/out_variants.txt");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name;
    Kernel kernel;
    words >> name >> kernel.outs;
    std::string arg;
    while (words >> arg) kernel.args.push_back(arg);
    kernels.emplace(std::move(name), std::move(kernel));
  }
  return kernels;
}

// What upstream's runtime computes on numbers; these have no out arguments.
const std::set<std::string>& number_kernels() {
  static const auto* const kNames = new std::set<std::string>{
      "aten::_local_scalar_dense.",
      "aten::sym_numel.",
      "aten::sym_size.int",
      "executorch_prim::add.Scalar",
      "executorch_prim::ceil.Scalar",
      "executorch_prim::eq.Scalar",
      "executorch_prim::floordiv.Scalar",
      "executorch_prim::ge.Scalar",
      "executorch_prim::gt.Scalar",
      "executorch_prim::le.Scalar",
      "executorch_prim::lt.Scalar",
      "executorch_prim::mod.Scalar",
      "executorch_prim::mul.Scalar",
      "executorch_prim::neg.Scalar",
      "executorch_prim::round.Scalar",
      "executorch_prim::sub.Scalar",
      "executorch_prim::sym_float.Scalar",
      "executorch_prim::sym_int.Scalar",
      "executorch_prim::sym_ite.Scalar",
      "executorch_prim::sym_max.Scalar",
      "executorch_prim::sym_min.Scalar",
      "executorch_prim::sym_not.Scalar",
      "executorch_prim::truediv.Scalar",
      "executorch_prim::trunc.Scalar",
  };
  return *kNames;
}

TEST(OutVariant, IsRegisteredUpstreamWithTheSameArguments) {
  const std::map<std::string, Kernel> kernels = read_kernels();
  ASSERT_GT(kernels.size(), 200u);
  // Operators that call the same things by other names.
  const std::set<std::string> kRenamed = {"aten.reshape.default", "aten.split.sizes",
                                          "aten.swapaxes.default"};
  size_t checked = 0;
  for (const OpInfo* row : all_ops()) {
    if (row->out_name.empty()) continue;
    // Emitted only where the export allows it.
    if (row->name.rfind("petrel::", 0) == 0) continue;
    const std::string out = absl::StrCat(row->out_name, ".", row->out_overload);
    if (number_kernels().count(out) != 0) continue;
    const auto it = kernels.find(out);
    ASSERT_NE(it, kernels.end()) << row->full_name() << " -> " << out;
    std::vector<std::string> args;
    for (const ArgSpec& spec : row->args) {
      if (!spec.is_tensor_option) args.push_back(spec.name);
    }
    EXPECT_EQ(row->num_results, it->second.outs) << row->full_name();
    if (kRenamed.count(row->full_name()) != 0) {
      EXPECT_EQ(args.size(), it->second.args.size()) << row->full_name();
    } else {
      EXPECT_EQ(args, it->second.args) << row->full_name();
    }
    ++checked;
  }
  EXPECT_GT(checked, 200u);
}

TEST(OutVariant, CoversUpstreamsKernels) {
  std::set<std::string> unused;
  for (const auto& [name, kernel] : read_kernels()) unused.insert(name);
  for (const OpInfo* row : all_ops()) {
    unused.erase(absl::StrCat(row->out_name, ".", row->out_overload));
  }
  EXPECT_EQ(unused,
            (std::set<std::string>{
                // Complex numbers.
                "aten::_conj_physical.out", "aten::_fft_c2r.out", "aten::_fft_r2c.out",
                "aten::view_as_real_copy.out",
                // Training.
                "aten::_native_batch_norm_legit.out", "aten::convolution_backward.out",
                "aten::max_pool2d_with_indices_backward.grad_input",
                // In the optimized library only.
                "aten::linear.out",
                // Made by upstream's own passes, not by exporters.
                "dim_order_ops::_clone_dim_order.out", "dim_order_ops::_empty_dim_order.out",
                "dim_order_ops::_to_dim_order_copy.out", "et_copy::_d2h_copy.out",
                "et_copy::_h2d_copy.out",
                // Export writes to caches by index_put.
                "llama::update_cache.out", "llama::update_cache_with_indices.out",
                // Of its library for decoders and images, which nothing here has.
                "llama::channelwise_gated_delta_rule.out", "llama::fallback.out",
                "llama::gated_delta_rule.out", "llama::quantized_moe_ffn.out",
                "preprocess::tile_crop.out"}));
}

}  // namespace
}  // namespace petrel::exir
