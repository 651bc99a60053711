// SPDX-License-Identifier: Apache-2.0
//
// Reductions, softmax, normalisations and scans.
#include "runtime/kernels/optimized/sweep.h"

#include <limits>

namespace petrel::runtime {
namespace {

// Sizes, the dims to reduce, and whether rows or columns are left.
const std::pair<Sizes, std::vector<int64_t>> kReductions[] = {{{1}, {0}},
                                                              {{17}, {0}},
                                                              {{70001}, {0}},
                                                              {{5, 33}, {1}},
                                                              {{5, 33}, {0}},
                                                              {{4, 100, 130}, {1}},
                                                              {{3, 4, 5, 6}, {2, 3}},
                                                              {{3, 4, 5, 6}, {0, 1}},
                                                              {{3, 4, 5, 6}, {0, 2}},
                                                              {{1, 64, 7, 7}, {2, 3}},
                                                              {{2, 300, 3}, {-2}},
                                                              {{300, 300}, {0, 1}}};

TEST_P(Sweep, Reductions) {
  for (const auto& [sizes, dims] : kReductions) {
    for (const bool keepdim : {true, false}) {
      for (const bool wild : {true, false}) {
        Sizes out;
        for (size_t d = 0; d < sizes.size(); ++d) {
          bool reduced = false;
          for (int64_t dim : dims) {
            reduced |= dim == static_cast<int64_t>(d) ||
                       dim + static_cast<int64_t>(sizes.size()) == static_cast<int64_t>(d);
          }
          if (!reduced) out.push_back(sizes[d]);
          if (reduced && keepdim) out.push_back(1);
        }
        Array* x = random(kFloat, sizes, -3, 3, wild);
        const std::vector<EValue> sum = {value(x), int_list(dims), EValue(keepdim), EValue()};
        compare("aten::sum.IntList_out", sum, {{kFloat, out}}, 1e-5);
        compare("aten::mean.out", sum, {{kFloat, out}}, 1e-6);
        const std::vector<EValue> most = {value(x), int_list(dims), EValue(keepdim)};
        compare("aten::amax.out", most, {{kFloat, out}}, 0);
        compare("aten::amin.out", most, {{kFloat, out}}, 0);
        compare("aten::var.correction_out",
                {value(x), int_list(dims), EValue(int64_t{1}), EValue(keepdim)}, {{kFloat, out}},
                2e-6);
        Array* flags = random(kBool, sizes, -1, 1);
        compare("aten::any.dims_out", {value(flags), int_list(dims), EValue(keepdim)},
                {{kBool, out}}, 0);
        if (dims.size() > 1) continue;
        compare("aten::argmax.out", {value(x), EValue(dims[0]), EValue(keepdim)},
                {{ScalarType::Long, out}}, 0);
        compare("aten::max.dim_max", {value(x), EValue(dims[0]), EValue(keepdim)},
                {{kFloat, out}, {ScalarType::Long, out}}, 0);
        for (const char* name : {"aten::_softmax.out", "aten::_log_softmax.out"}) {
          compare(name, {value(x), EValue(dims[0]), EValue(false)}, {{kFloat, sizes}}, 2e-6);
        }
      }
    }
  }
}

TEST_P(Sweep, SoftmaxOfMaskedRows) {
  Array* x = floats({4, 19});
  for (size_t i = 0; i < 19; ++i) x->set(i, -std::numeric_limits<double>::infinity());
  for (size_t i = 25; i < 38; ++i) x->set(i, -std::numeric_limits<double>::infinity());
  for (size_t i = 38; i < 57; ++i) x->set(i, 1e4 + static_cast<double>(i));
  for (const int64_t dim : {0, 1}) {
    for (const char* name : {"aten::_softmax.out", "aten::_log_softmax.out"}) {
      compare(name, {value(x), EValue(dim), EValue(false)}, {{kFloat, {4, 19}}}, 2e-6);
    }
  }
}

TEST_P(Sweep, Normalisations) {
  for (const int32_t n : {1, 7, 16, 33, 192, 1000}) {
    const int32_t rows = n == 192 ? 197 : 5;
    Array *x = random(kFloat, {2, rows, n}, 3, 9), *w = floats({n}), *b = floats({n});
    for (const bool affine : {true, false}) {
      compare("aten::native_layer_norm.out",
              {value(x), int_list({n}), affine ? value(w) : EValue(), affine ? value(b) : EValue(),
               EValue(1e-5)},
              {{kFloat, {2, rows, n}}, {kFloat, {2, rows, 1}}, {kFloat, {2, rows, 1}}}, 1e-5);
    }
    Array *image = random(kFloat, {2, 6, 1, n}, -4, 4), *cw = floats({6}), *cb = floats({6});
    compare("aten::native_group_norm.out",
            {value(image), value(cw), value(cb), EValue(int64_t{2}), EValue(int64_t{6}),
             EValue(int64_t{n}), EValue(int64_t{3}), EValue(1e-5)},
            {{kFloat, {2, 6, 1, n}}, {kFloat, {2, 3}}, {kFloat, {2, 3}}}, 1e-5);
    Array *mean = floats({6}), *variance = floats({6}, 0.1, 2.0);
    compare("aten::_native_batch_norm_legit_no_training.out",
            {value(image), value(cw), EValue(), value(mean), value(variance), EValue(0.1),
             EValue(1e-5)},
            {{kFloat, {2, 6, 1, n}}, {kFloat, {0}}, {kFloat, {0}}}, 2e-6);
  }
}

TEST_P(Sweep, NarrowRows) {
  for (const ScalarType type : {ScalarType::Half, ScalarType::BFloat16}) {
    const double tolerance = type == ScalarType::Half ? 2e-3 : 1.6e-2;
    for (const int32_t n : {1, 7, 33, 130, 9000}) {
      const int32_t rows = n == 9000 ? 2 : 5;
      Array* x = random(type, {rows, n}, -2, 2);
      for (const int64_t dim : {0, 1}) {
        const Sizes out = {dim == 0 ? n : rows};
        const std::vector<EValue> sum = {value(x), int_list({dim}), EValue(false), EValue()};
        compare("aten::sum.IntList_out", sum, {{type, out}}, tolerance);
        compare("aten::mean.out", sum, {{type, out}}, tolerance);
        compare("aten::amax.out", {value(x), int_list({dim}), EValue(false)}, {{type, out}}, 0);
        compare("aten::_softmax.out", {value(x), EValue(dim), EValue(false)}, {{type, {rows, n}}},
                tolerance);
      }
      if (n == 1) continue;  // what is left of a variance of one element is noise
      Array *w = random(type, {n}, -2, 2), *b = random(type, {n}, -2, 2);
      compare("aten::native_layer_norm.out",
              {value(x), int_list({n}), value(w), value(b), EValue(1e-5)},
              {{type, {rows, n}}, {type, {rows, 1}}, {type, {rows, 1}}}, 2 * tolerance);
    }
  }
}

TEST_P(Sweep, RunningSums) {
  for (const auto& [sizes, dims] : kReductions) {
    if (dims.size() > 1) continue;
    for (const ScalarType type : {kFloat, ScalarType::Long, ScalarType::Int, ScalarType::Half}) {
      Array* x = random(type, sizes, 0, 2);
      compare("aten::cumsum.out", {value(x), EValue(dims[0]), EValue()}, {{type, sizes}},
              type == ScalarType::Half ? 2e-3 : 1e-6);
    }
  }
}

TEST_P(Sweep, TopElements) {
  for (const int32_t n : {1, 5, 64, 1000, 32000}) {
    for (const int32_t k : {1, 5, 50, 600, 1000, 32000}) {
      if (k > n) continue;
      for (const bool largest : {true, false}) {
        Array* x = random(kFloat, {3, n}, -5, 5, /*wild=*/true);
        for (size_t i = 0; i < x->numel(); i += 7) x->set(i, 1.0);  // equal ones
        compare("aten::topk.values",
                {value(x), EValue(int64_t{k}), EValue(int64_t{-1}), EValue(largest), EValue(true)},
                {{kFloat, {3, k}}, {ScalarType::Long, {3, k}}}, 0);
      }
    }
  }
}

// Bit for bit.
TEST_P(Sweep, Levels) {
  for (const int32_t n : {1, 7, 16, 33, 5000}) {
    for (const ScalarType type : {ScalarType::Char, ScalarType::Byte}) {
      const bool is_signed = type == ScalarType::Char;
      const int64_t low = is_signed ? -127 : 0, high = is_signed ? 127 : 250;
      const EValue numbers[] = {EValue(0.0173), EValue(int64_t{11}), EValue(low), EValue(high),
                                EValue(static_cast<int64_t>(type))};
      const auto call = [&](Array* x) {
        std::vector<EValue> arguments = {value(x)};
        arguments.insert(arguments.end(), std::begin(numbers), std::end(numbers));
        return arguments;
      };
      compare("quantized_decomposed::quantize_per_tensor.out",
              call(random(kFloat, {3, n}, -3, 3, true)), {{type, {3, n}}}, 0);
      std::vector<EValue> back = call(random(type, {3, n}, is_signed ? -128 : 0, 127));
      back.push_back(EValue());
      compare("quantized_decomposed::dequantize_per_tensor.out", back, {{kFloat, {3, n}}}, 0);
    }
  }
}

TEST_P(Sweep, LevelsOfChannelsAndTokens) {
  const EValue low(int64_t{-128}), high(int64_t{127});
  const EValue type(static_cast<int64_t>(ScalarType::Char)), to(static_cast<int64_t>(kFloat));
  for (const Sizes& sizes : {Sizes{3, 5, 17}, Sizes{1, 2, 64}, Sizes{4, 300, 1}}) {
    Array* levels = random(ScalarType::Char, sizes, -128, 127);
    for (int64_t axis = -1; axis < 3; ++axis) {
      const int32_t count = sizes[static_cast<size_t>(axis < 0 ? 2 : axis)];
      Array* scales = floats({count}, 0.001, 0.1);
      for (const bool has_zero_points : {false, true}) {
        compare("quantized_decomposed::dequantize_per_channel.out",
                {value(levels), value(scales),
                 has_zero_points ? value(random(ScalarType::Long, {count}, -9, 9)) : EValue(),
                 EValue(axis), low, high, type, EValue()},
                {{kFloat, sizes}}, 0);
      }
    }
    Sizes rows = sizes;
    rows[2] = 1;
    Array* scales = random(ScalarType::Double, rows, 0.01, 0.02);
    Array* zero_points = random(ScalarType::Long, rows, -9, 9);
    compare("quantized_decomposed::quantize_per_token.out",
            {value(random(kFloat, sizes, -3, 3, true)), value(scales), value(zero_points), low,
             high, type},
            {{ScalarType::Char, sizes}}, 0);
    for (size_t i = 0; i < scales->numel(); ++i) {
      scales->set(i, static_cast<double>(static_cast<float>(scales->at(i))));
    }
    compare("quantized_decomposed::dequantize_per_token.out",
            {value(levels), value(scales), value(zero_points), low, high, type, to},
            {{kFloat, sizes}}, 0);
  }
}

PETREL_SWEEP_ALL();

}  // namespace
}  // namespace petrel::runtime
