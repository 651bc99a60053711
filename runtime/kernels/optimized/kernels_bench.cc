// SPDX-License-Identifier: Apache-2.0
//
// Times optimized kernels beside the portable ones, on shapes of common models:
//
//   ./bazelw run //runtime/kernels/optimized:kernels_bench -- [threads]
//
// The least time of several rounds counts; rounds of the two alternate, so that
// a busy machine is busy for both.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/executor/registry.h"
#include "runtime/kernels/optimized/kernels.h"
#include "runtime/kernels/portable/kernels.h"
#include "runtime/threads/thread_count.h"

namespace petrel::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using Sizes = std::vector<int32_t>;

// Tensors and lists of one call, and the values that refer to them.
class Call {
 public:
  Call& tensor(Sizes sizes, ScalarType type = ScalarType::Float) {
    auto t = std::make_unique<Storage>();
    t->sizes = std::move(sizes);
    for (size_t d = 0; d < t->sizes.size(); ++d) t->order.push_back(static_cast<uint8_t>(d));
    t->strides.resize(t->sizes.size());
    compute_strides(Span<const int32_t>(t->sizes), Span<const uint8_t>(t->order),
                    t->strides.data());
    t->impl =
        std::make_unique<TensorImpl>(type, static_cast<ssize_t>(t->sizes.size()), t->sizes.data(),
                                     nullptr, t->order.data(), t->strides.data());
    t->memory.resize(t->impl->nbytes() / 8 + 2);
    if (t->impl->set_data(t->memory.data(), t->memory.size() * 8) != Error::Ok) std::abort();
    for (size_t i = 0; i < t->impl->numel(); ++i) {
      if (type == ScalarType::Float) {
        reinterpret_cast<float*>(t->memory.data())[i] = static_cast<float>(i % 97) / 64.0f - 0.5f;
      } else if (type == ScalarType::Half) {
        // 0.5 to just under 1, of either sign.
        reinterpret_cast<uint16_t*>(t->memory.data())[i] =
            static_cast<uint16_t>(0x3800 + i % 97 + (i % 2) * 0x8000);
      } else if (type == ScalarType::Bool) {
        reinterpret_cast<uint8_t*>(t->memory.data())[i] = i % 3 == 0;
      } else if (type == ScalarType::Double) {
        reinterpret_cast<double*>(t->memory.data())[i] = static_cast<double>(i % 97) / 64.0 - 0.5;
      } else if (type == ScalarType::Int) {
        reinterpret_cast<int32_t*>(t->memory.data())[i] = static_cast<int32_t>(i % 90);
      } else if (type == ScalarType::Char) {
        reinterpret_cast<int8_t*>(t->memory.data())[i] = static_cast<int8_t>(i % 90);
      } else {  // Long
        reinterpret_cast<int64_t*>(t->memory.data())[i] = static_cast<int64_t>(i % 90);
      }
    }
    values_.push_back(EValue(Tensor(t->impl.get())));
    tensors_.push_back(std::move(t));
    return *this;
  }
  Call& list(std::vector<int64_t> numbers) {
    auto l = std::make_unique<List>();
    for (const int64_t v : numbers) l->boxes.push_back(EValue(v));
    for (EValue& v : l->boxes) l->items.push_back(&v);
    l->unboxed.resize(numbers.size() + 1);
    l->list = BoxedIntList{Span<EValue*>(l->items.data(), l->items.size()), l->unboxed.data()};
    values_.push_back(EValue(&l->list));
    lists_.push_back(std::move(l));
    return *this;
  }
  template <typename T>
  Call& value(T v) {
    values_.push_back(EValue(v));
    return *this;
  }
  Call& none() {
    values_.emplace_back();
    return *this;
  }

  // Seconds of one run.
  double time(const Kernel& kernel) {
    std::vector<EValue*> args;
    for (EValue& v : values_) args.push_back(&v);
    const Clock::time_point start = Clock::now();
    KernelRuntimeContext context(nullptr, nullptr, kernel.name);
    kernel.fn(context, Span<EValue*>(args.data(), args.size()));
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (context.failure_state() != Error::Ok) std::abort();
    return seconds;
  }

 private:
  struct Storage {
    Sizes sizes;
    std::vector<uint8_t> order;
    std::vector<int64_t> strides;
    std::vector<uint64_t> memory;
    std::unique_ptr<TensorImpl> impl;
  };
  struct List {
    std::vector<EValue> boxes;
    std::vector<EValue*> items;
    std::vector<int64_t> unboxed;
    BoxedIntList list;
  };
  std::vector<EValue> values_;
  std::vector<std::unique_ptr<Storage>> tensors_;
  std::vector<std::unique_ptr<List>> lists_;
};

constexpr KernelLibrary kOptimizedLibraries[] = {&optimized_kernels, &portable_kernels};
constexpr KernelLibrary kPortableLibraries[] = {&portable_kernels};
constexpr Registry kOptimized(kOptimizedLibraries, {});
constexpr Registry kPortable(kPortableLibraries, {});

void measure(const char* name, const char* what, Call& call) {
  const Kernel* fast = kOptimized.find_kernel(name);
  const Kernel* slow = kPortable.find_kernel(name);
  if (fast == nullptr || slow == nullptr) std::abort();
  double best[2] = {1e9, 1e9};
  const Clock::time_point start = Clock::now();
  for (int round = 0; round < 200; ++round) {
    if (round >= 3 && std::chrono::duration<double>(Clock::now() - start).count() > 0.3) break;
    for (int i = 0; i < 8; ++i) best[0] = std::min(best[0], call.time(*fast));
    best[1] = std::min(best[1], call.time(*slow));
  }
  std::printf("%-42s %-28s %10.1f %12.1f %8.1f\n", name, what, best[0] * 1e6, best[1] * 1e6,
              best[1] / best[0]);
}

// Attention as one kernel, beside the optimized kernels that it is made of
// otherwise.
void measure_attention(const char* what, int32_t heads, int32_t rows, int32_t columns,
                       int32_t depth) {
  const Sizes q = {1, heads, rows, depth}, k = {1, heads, columns, depth};
  const Sizes q3 = {heads, rows, depth}, k3 = {heads, columns, depth};
  const Sizes t = {1, heads, depth, columns}, t3 = {heads, depth, columns};
  const Sizes scores = {heads, rows, columns};
  Call one, scaled, turned, first, weights, second;
  one.tensor(q).tensor(k).tensor(k).none().value(false).value(0.125).tensor(q);
  scaled.tensor(q).value(0.125).tensor(q);
  turned.tensor(k).list({0, 1, 3, 2}).tensor(t);
  first.tensor(q3).tensor(t3).tensor(scores);
  weights.tensor(scores).value(int64_t{2}).value(false).tensor(scores);
  second.tensor(scores).tensor(k3).tensor(q3);
  const std::pair<const char*, Call*> parts[] = {{"aten::mul.Scalar_out", &scaled},
                                                 {"aten::permute_copy.out", &turned},
                                                 {"aten::bmm.out", &first},
                                                 {"aten::_softmax.out", &weights},
                                                 {"aten::bmm.out", &second}};
  double best[2] = {1e9, 1e9};
  const Clock::time_point start = Clock::now();
  for (int round = 0; round < 400; ++round) {
    if (round >= 3 && std::chrono::duration<double>(Clock::now() - start).count() > 0.5) break;
    best[0] = std::min(best[0], one.time(*kOptimized.find_kernel("petrel::attention.out")));
    double sum = 0.0;
    for (const auto& [name, call] : parts) sum += call->time(*kOptimized.find_kernel(name));
    best[1] = std::min(best[1], sum);
  }
  std::printf("%-42s %-28s %10.1f %12.1f %8.1f\n", "attention, beside bmm + softmax + bmm", what,
              best[0] * 1e6, best[1] * 1e6, best[1] / best[0]);
}

// What many calls share.
constexpr int64_t kOne = 1;
const Sizes kTokens = {197, 192};

void measure_elementwise() {
  const auto unary = [&](const char* name) {
    measure(name, "[197, 192]", Call().tensor(kTokens).tensor(kTokens));
  };
  for (const char* name :
       {"aten::exp.out", "aten::sigmoid.out", "aten::tanh.out", "aten::relu.out", "aten::sqrt.out",
        "aten::log.out", "aten::sin.out", "aten::tan.out", "aten::asin.out", "aten::atan.out",
        "aten::sinh.out", "aten::acosh.out"}) {
    unary(name);
  }
  for (const char* name : {"aten::atan2.out", "aten::fmod.Tensor_out",
                           "aten::pow.Tensor_Tensor_out", "aten::floor_divide.out"}) {
    measure(name, "[197, 192]", Call().tensor(kTokens).tensor(kTokens).tensor(kTokens));
  }
  measure("aten::add.out", "int8, same sizes",
          Call()
              .tensor(kTokens, ScalarType::Char)
              .tensor(kTokens, ScalarType::Char)
              .value(kOne)
              .tensor(kTokens, ScalarType::Char));
  measure("aten::mul.out", "float64, same sizes",
          Call()
              .tensor(kTokens, ScalarType::Double)
              .tensor(kTokens, ScalarType::Double)
              .tensor(kTokens, ScalarType::Double));
  measure("aten::bitwise_xor.Tensor_out", "int32, same sizes",
          Call()
              .tensor(kTokens, ScalarType::Int)
              .tensor(kTokens, ScalarType::Int)
              .tensor(kTokens, ScalarType::Int));
  measure("aten::gelu.out", "[197, 768]",
          Call().tensor({197, 768}).value(std::string_view("none")).tensor({197, 768}));
  measure("aten::hardtanh.out", "[1, 96, 112, 112]",
          Call().tensor({1, 96, 112, 112}).value(0.0).value(6.0).tensor({1, 96, 112, 112}));
  measure("aten::add.out", "same sizes",
          Call().tensor(kTokens).tensor(kTokens).value(kOne).tensor(kTokens));
  measure("aten::mul.out", "channels [1, 96, 1, 1]",
          Call().tensor({1, 96, 56, 56}).tensor({1, 96, 1, 1}).tensor({1, 96, 56, 56}));
  measure("aten::mul.Scalar_out", "[197, 192]", Call().tensor(kTokens).value(0.5).tensor(kTokens));
  measure(
      "aten::eq.Scalar_out", "int64 [128, 128]",
      Call().tensor({128, 128}, ScalarType::Long).value(kOne).tensor({128, 128}, ScalarType::Bool));
  measure("aten::where.self_out", "[3, 197, 197]",
          Call()
              .tensor({1, 197, 197}, ScalarType::Bool)
              .tensor({3, 197, 197})
              .tensor({1})
              .tensor({3, 197, 197}));
}

void measure_products() {
  measure("aten::addmm.out", "197x192x768",
          Call()
              .tensor({768})
              .tensor(kTokens)
              .tensor({192, 768})
              .value(kOne)
              .value(kOne)
              .tensor({197, 768}));
  measure("aten::addmm.out", "1x1024x1024",
          Call()
              .tensor({1024})
              .tensor({1, 1024})
              .tensor({1024, 1024})
              .value(kOne)
              .value(kOne)
              .tensor({1, 1024}));
  measure("aten::mm.out", "256x256x256",
          Call().tensor({256, 256}).tensor({256, 256}).tensor({256, 256}));
  measure("aten::bmm.out", "3x197x64x197",
          Call().tensor({3, 197, 64}).tensor({3, 64, 197}).tensor({3, 197, 197}));
  measure("aten::linear.out", "128x384x384",
          Call().tensor({128, 384}).tensor({384, 384}).tensor({384}).tensor({128, 384}));
}

void measure_convolutions() {
  const auto convolution = [&](const char* what, int32_t in, int32_t out, int32_t size,
                               int32_t window, int64_t stride, int64_t groups) {
    const int32_t result = static_cast<int32_t>((size - 1) / stride + 1);
    measure("aten::convolution.out", what,
            Call()
                .tensor({1, in, size, size})
                .tensor({out, static_cast<int32_t>(in / groups), window, window})
                .tensor({out})
                .list({stride, stride})
                .list({window / 2, window / 2})
                .list({1, 1})
                .value(false)
                .list({0, 0})
                .value(groups)
                .tensor({1, out, result, result}));
  };
  convolution("3x3 64->64 56x56", 64, 64, 56, 3, 1, 1);
  convolution("1x1 96->24 56x56", 96, 24, 56, 1, 1, 1);
  convolution("3x3 depthwise 96 56x56", 96, 96, 56, 3, 1, 96);
  convolution("3x3 depthwise 192 28x28 /2", 192, 192, 28, 3, 2, 192);
}

void measure_norms_and_attention() {
  measure("aten::_softmax.out", "[3, 197, 197], last",
          Call().tensor({3, 197, 197}).value(int64_t{-1}).value(false).tensor({3, 197, 197}));
  measure("aten::_softmax.out", "[3, 197, 197], dim 1",
          Call().tensor({3, 197, 197}).value(kOne).value(false).tensor({3, 197, 197}));
  measure("petrel::attention.out", "3x197x64",
          Call()
              .tensor({1, 3, 197, 64})
              .tensor({1, 3, 197, 64})
              .tensor({1, 3, 197, 64})
              .none()
              .value(false)
              .value(0.125)
              .tensor({1, 3, 197, 64}));
  measure_attention("3 x 197 x 64", 3, 197, 197, 64);
  measure_attention("12 x 128 x 32", 12, 128, 128, 32);
  measure_attention("8 x 1024 x 64", 8, 1024, 1024, 64);
  measure_attention("8 x 1 of 1024 x 64", 8, 1, 1024, 64);
  measure("aten::native_layer_norm.out", "[197, 192]",
          Call()
              .tensor(kTokens)
              .list({192})
              .tensor({192})
              .tensor({192})
              .value(1e-5)
              .tensor(kTokens)
              .tensor({197, 1})
              .tensor({197, 1}));
  measure("aten::native_group_norm.out", "[1, 64, 56, 56], 8",
          Call()
              .tensor({1, 64, 56, 56})
              .tensor({64})
              .tensor({64})
              .value(kOne)
              .value(int64_t{64})
              .value(int64_t{3136})
              .value(int64_t{8})
              .value(1e-5)
              .tensor({1, 64, 56, 56})
              .tensor({1, 8})
              .tensor({1, 8}));
}

void measure_reductions() {
  measure("aten::mean.out", "[1, 1280, 7, 7], 2 3",
          Call().tensor({1, 1280, 7, 7}).list({2, 3}).value(false).none().tensor({1, 1280}));
  measure("aten::sum.IntList_out", "[512, 384], 0",
          Call().tensor({512, 384}).list({0}).value(false).none().tensor({384}));
  measure("aten::amax.out", "[512, 384], 1",
          Call().tensor({512, 384}).list({1}).value(false).tensor({512}));
  measure("aten::argmax.out", "[1, 32000], 1",
          Call().tensor({1, 32000}).value(kOne).value(false).tensor({1}, ScalarType::Long));
}

void measure_pools() {
  measure("aten::max_pool2d_with_indices.out", "3x3 /2 [1, 64, 112, 112]",
          Call()
              .tensor({1, 64, 112, 112})
              .list({3, 3})
              .list({2, 2})
              .list({1, 1})
              .list({1, 1})
              .value(false)
              .tensor({1, 64, 56, 56})
              .tensor({1, 64, 56, 56}, ScalarType::Long));
  measure("aten::avg_pool2d.out", "2x2 /2 [1, 64, 56, 56]",
          Call()
              .tensor({1, 64, 56, 56})
              .list({2, 2})
              .list({2, 2})
              .list({0, 0})
              .value(false)
              .value(true)
              .none()
              .tensor({1, 64, 28, 28}));
}

void measure_copies() {
  // Copies have one implementation, which both libraries share.
  measure("aten::permute_copy.out", "[197, 3, 64], 1 2 0",
          Call().tensor({197, 3, 64}).list({1, 2, 0}).tensor({3, 64, 197}));
  measure("aten::slice_copy.Tensor_out", "[197, 576], 1 192:384",
          Call()
              .tensor({197, 576})
              .value(kOne)
              .value(int64_t{192})
              .value(int64_t{384})
              .value(kOne)
              .tensor(kTokens));
  measure("aten::embedding.out", "128 of [30522, 384]",
          Call()
              .tensor({30522, 384})
              .tensor({128}, ScalarType::Long)
              .value(int64_t{-1})
              .value(false)
              .value(false)
              .tensor({128, 384}));
  measure("aten::index_select.out", "[512, 384], 1",
          Call().tensor({512, 384}).value(kOne).tensor({64}, ScalarType::Long).tensor({512, 64}));
  measure("aten::gather.out", "[128, 384], 1",
          Call()
              .tensor({128, 384})
              .value(kOne)
              .tensor({128, 64}, ScalarType::Long)
              .value(false)
              .tensor({128, 64}));
  measure("aten::scatter_add.out", "[128, 384], 1",
          Call()
              .tensor({128, 384})
              .value(kOne)
              .tensor({128, 64}, ScalarType::Long)
              .tensor({128, 64})
              .tensor({128, 384}));
}

void measure_more_reductions() {
  measure("aten::prod.int_out", "[512, 384], 1",
          Call().tensor({512, 384}).value(kOne).value(false).none().tensor({512}));
  measure("aten::sum.IntList_out", "[8, 64, 128], 0 2",
          Call().tensor({8, 64, 128}).list({0, 2}).value(false).none().tensor({64}));
  measure("aten::any.dims_out", "bool [512, 384], 0",
          Call()
              .tensor({512, 384}, ScalarType::Bool)
              .list({0})
              .value(false)
              .tensor({384}, ScalarType::Bool));
}

void measure_other_types() {
  measure("aten::mm.out", "float64 128x128x128",
          Call()
              .tensor({128, 128}, ScalarType::Double)
              .tensor({128, 128}, ScalarType::Double)
              .tensor({128, 128}, ScalarType::Double));
  measure("aten::convolution.out", "transposed 4x4 /2 64->32 28x28",
          Call()
              .tensor({1, 64, 28, 28})
              .tensor({64, 32, 4, 4})
              .tensor({32})
              .list({2, 2})
              .list({1, 1})
              .list({1, 1})
              .value(true)
              .list({0, 0})
              .value(kOne)
              .tensor({1, 32, 56, 56}));
  const auto half = ScalarType::Half;
  measure("aten::convolution.out", "float16 3x3 32->32 28x28",
          Call()
              .tensor({1, 32, 28, 28}, half)
              .tensor({32, 32, 3, 3}, half)
              .tensor({32}, half)
              .list({1, 1})
              .list({1, 1})
              .list({1, 1})
              .value(false)
              .list({0, 0})
              .value(kOne)
              .tensor({1, 32, 28, 28}, half));
  measure("aten::add.out", "float16, same sizes",
          Call().tensor(kTokens, half).tensor(kTokens, half).value(kOne).tensor(kTokens, half));
  measure("aten::gelu.out", "float16 [197, 768]",
          Call().tensor({197, 768}, half).value(std::string_view("none")).tensor({197, 768}, half));
  measure("aten::mm.out", "float16 256x256x256",
          Call().tensor({256, 256}, half).tensor({256, 256}, half).tensor({256, 256}, half));
  measure("aten::_softmax.out", "float16 [3, 197, 197], last",
          Call()
              .tensor({3, 197, 197}, half)
              .value(int64_t{-1})
              .value(false)
              .tensor({3, 197, 197}, half));
  measure("aten::_to_copy.out", "int64 -> float [128, 128]",
          Call().tensor({128, 128}, ScalarType::Long).value(false).none().tensor({128, 128}));
  measure("aten::_to_copy.out", "float -> float16 [197, 192]",
          Call().tensor(kTokens).value(false).none().tensor(kTokens, half));
}

void measure_searches() {
  measure("aten::topk.values", "50 of [1, 32000]",
          Call()
              .tensor({1, 32000})
              .value(int64_t{50})
              .value(int64_t{-1})
              .value(true)
              .value(true)
              .tensor({1, 50})
              .tensor({1, 50}, ScalarType::Long));
  measure("aten::cumsum.out", "int64 [128, 128], 1",
          Call()
              .tensor({128, 128}, ScalarType::Long)
              .value(kOne)
              .none()
              .tensor({128, 128}, ScalarType::Long));
}

void measure_all() {
  measure_elementwise();
  measure_products();
  measure_convolutions();
  measure_norms_and_attention();
  measure_reductions();
  measure_pools();
  measure_copies();
  measure_more_reductions();
  measure_other_types();
  measure_searches();
}

}  // namespace
}  // namespace petrel::runtime

int main(int argc, char** argv) {
  using petrel::runtime::Error;
  const unsigned long threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  if (petrel::runtime::set_thread_count(threads) != Error::Ok) return 2;
  std::printf("%-42s %-28s %10s %12s %8s\n", "kernel", "call", "optimized", "portable", "ratio");
  std::printf("%-42s %-28s %10s %12s\n", "", "", "us", "us");
  petrel::runtime::measure_all();
  return 0;
}
