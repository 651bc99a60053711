// SPDX-License-Identifier: Apache-2.0
//
// Arguments that are no tensor, number or list where a kernel wants one: it says so and
// ends at once, for what stands in their place is none of the program's.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/core/log.h"
#include "runtime/executor/registry.h"
#include "runtime/kernel/kernel_runtime_context.h"
#include "runtime/kernels/optimized/kernels.h"
#include "runtime/kernels/portable/kernels.h"
#include "runtime/kernels/portable/recorded_call.h"

namespace petrel::runtime {
namespace {

constexpr KernelLibrary kReferenceLibraries[] = {&portable_kernels};
constexpr KernelLibrary kOptimizedLibraries[] = {&optimized_kernels, &portable_kernels};
constexpr Registry kReference(kReferenceLibraries, {});
constexpr Registry kOptimized(kOptimizedLibraries, {});

// Arguments that tell a kernel nothing it needs: of layouts, gradients, random numbers and
// types that those of the tensors tell as well.
const std::map<std::string, std::set<size_t>> kNotRead = {
    {"aten::_cdist_forward.out", {3}},
    {"aten::_native_batch_norm_legit.no_stats_out", {3, 4}},
    {"aten::_native_batch_norm_legit_no_training.out", {5}},
    {"aten::_to_copy.out", {1, 2}},
    {"aten::clone.out", {1}},
    {"aten::copy.out", {2}},
    {"aten::cumsum.out", {2}},
    {"aten::embedding.out", {2, 3, 4}},
    {"aten::expand_copy.out", {2}},
    {"aten::full_like.out", {2}},
    {"aten::gather.out", {3}},
    {"aten::mean.dtype_out", {1}},
    {"aten::mean.out", {3}},
    {"aten::prod.int_out", {3}},
    {"aten::prod.out", {1}},
    {"aten::sum.IntList_out", {3}},
    {"aten::topk.values", {4}},
    {"llama::update_cache.out", {3}},
    {"llama::update_cache_with_indices.out", {2, 4}},
    {"quantized_decomposed::choose_qparams.Tensor_out", {4}},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric.out", {1}},
};

class WrongKinds : public ::testing::TestWithParam<const Registry*> {};

TEST_P(WrongKinds, AreRefused) {
  const LogHook hook = set_log_hook(LogHook{});
  std::set<std::string> seen;
  size_t refused = 0;
  for (const test::EagerCase& one : test::load_eager_cases(kRecordedCalls)) {
    const Kernel* const kernel = GetParam()->find_kernel(one.call->function);
    // The first case of each: the others have the same arguments.
    if (kernel == nullptr || !seen.insert(kernel->name).second) continue;
    const size_t count = RecordedCall(one).num_arguments();
    const auto unread = kNotRead.find(kernel->name);
    for (size_t i = 0; i < count; ++i) {
      RecordedCall call(one);
      call.argument(i) = EValue(Span<const bool>());
      const bool is_read = unread == kNotRead.end() || unread->second.count(i) == 0;
      EXPECT_EQ(call.call(*kernel), is_read ? Error::InvalidProgram : Error::Ok)
          << kernel->name << ", argument " << i;
      refused += is_read;
    }
  }
  EXPECT_GT(refused, 700u);
  set_log_hook(hook);
}

// Kernels without recorded calls.
TEST_P(WrongKinds, OfEveryArgumentAreRefused) {
  const LogHook hook = set_log_hook(LogHook{});
  const std::pair<const char*, size_t> kernels[] = {{"aten::copy_", 3},
                                                    {"aten::native_dropout.out", 5},
                                                    {"aten::rand.out", 2},
                                                    {"aten::randn.out", 2}};
  for (const auto& [name, count] : kernels) {
    const Kernel* const kernel = GetParam()->find_kernel(name);
    ASSERT_NE(kernel, nullptr) << name;
    EValue wrong{Span<const bool>()};
    std::vector<EValue*> args(count, &wrong);
    KernelRuntimeContext context;
    kernel->fn(context, Span<EValue*>(args.data(), args.size()));
    EXPECT_EQ(context.failure_state(), Error::InvalidProgram) << name;
  }
  set_log_hook(hook);
}

std::string name_of(const ::testing::TestParamInfo<const Registry*>& info) {
  return info.param == &kReference ? "reference" : "optimized";
}

INSTANTIATE_TEST_SUITE_P(Kernels, WrongKinds, ::testing::Values(&kReference, &kOptimized), name_of);

}  // namespace
}  // namespace petrel::runtime
