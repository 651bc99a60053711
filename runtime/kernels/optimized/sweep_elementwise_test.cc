// SPDX-License-Identifier: Apache-2.0
//
// Functions of one and two operands, choices and conversions.
#include "runtime/kernels/optimized/sweep.h"

#include <algorithm>

namespace petrel::runtime {
namespace {

const int32_t kLengths[] = {0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 1000, 70001};

TEST_P(Sweep, UnaryFunctions) {
  const char* names[] = {"exp",   "expm1", "log",        "log1p", "log2", "log10",  "tanh",
                         "sqrt",  "rsqrt", "reciprocal", "abs",   "neg",  "ceil",   "floor",
                         "trunc", "round", "sign",       "relu",  "erf",  "sigmoid"};
  for (const char* name : names) {
    for (const int32_t n : kLengths) {
      Array* x = random(kFloat, {n}, -9.0, 9.0, /*wild=*/true);
      compare(("aten::" + std::string(name) + ".out").c_str(), {value(x)}, {{kFloat, {n}}}, 4e-7);
    }
  }
}

TEST_P(Sweep, UnaryFunctionsOverTheWholeRange) {
  const std::pair<const char*, std::pair<double, double>> ranges[] = {
      {"aten::exp.out", {-110, 95}},      {"aten::expm1.out", {-1, 1}},
      {"aten::log.out", {0, 4}},          {"aten::log.out", {0, 1e38}},
      {"aten::log.out", {0, 1e-37}},      {"aten::log1p.out", {-1, 1}},
      {"aten::log1p.out", {-1e-6, 1e-6}}, {"aten::tanh.out", {-12, 12}},
      {"aten::tanh.out", {-1e-3, 1e-3}},  {"aten::erf.out", {-6, 6}},
      {"aten::sigmoid.out", {-100, 100}}, {"aten::log2.out", {0, 20}},
      {"aten::log10.out", {0, 1000}}};
  for (const auto& [name, range] : ranges) {
    Array* x = random(kFloat, {20000}, range.first, range.second);
    compare(name, {value(x)}, {{kFloat, {20000}}}, 4e-7);
  }
}

TEST_P(Sweep, UnaryFunctionsWithParameters) {
  for (const int32_t n : {1, 17, 5000, 70001}) {
    Array* x = random(kFloat, {n}, -9.0, 9.0, /*wild=*/true);
    compare("aten::gelu.out", {value(x), EValue(std::string_view("none"))}, {{kFloat, {n}}}, 1e-6);
    compare("aten::gelu.out", {value(x), EValue(std::string_view("tanh"))}, {{kFloat, {n}}}, 1e-6);
    compare("aten::hardtanh.out", {value(x), EValue(0.0), EValue(6.0)}, {{kFloat, {n}}}, 0);
    compare("aten::clamp.out", {value(x), EValue(), EValue(int64_t{2})}, {{kFloat, {n}}}, 0);
    compare("aten::clamp.out", {value(x), EValue(3.0), EValue(-1.0)}, {{kFloat, {n}}}, 0);
    compare("aten::leaky_relu.out", {value(x), EValue(0.1)}, {{kFloat, {n}}}, 2e-7);
    compare("aten::elu.out", {value(x), EValue(1.1), EValue(1.05), EValue(0.9)}, {{kFloat, {n}}},
            4e-7);
    // The product of the first two is infinite as a float, and 0 times that is no number.
    compare("aten::elu.out", {value(x), EValue(1e30), EValue(1e30), EValue(0.0)}, {{kFloat, {n}}},
            4e-7);
  }
}

TEST_P(Sweep, ChannelsLast) {
  Array* x = random(kFloat, {2, 5, 7, 3}, -3, 3, false, /*channels_last=*/true);
  compare("aten::relu.out", {value(x)}, {{kFloat, {2, 5, 7, 3}}}, 0, true);
  compare("aten::exp.out", {value(x)}, {{kFloat, {2, 5, 7, 3}}}, 4e-7, false);
}

// Operands that broadcast in every way there is a path for.
const std::pair<Sizes, Sizes> kOperands[] = {{{1}, {1}},
                                             {{17}, {17}},
                                             {{17}, {1}},
                                             {{1}, {17}},
                                             {{70001}, {70001}},
                                             {{3, 5, 19}, {19}},
                                             {{3, 5, 19}, {5, 1}},
                                             {{5, 1}, {3, 5, 19}},
                                             {{4, 1, 6}, {3, 1}},
                                             {{2, 8, 4, 4}, {8, 1, 1}},
                                             {{33, 2000}, {33, 1}},
                                             {{0, 3}, {3}},
                                             {{}, {}},
                                             {{}, {3, 4}}};

Sizes broadcast(const Sizes& a, const Sizes& b) {
  Sizes out(std::max(a.size(), b.size()), 1);
  for (const Sizes& s : {a, b}) {
    for (size_t i = 0; i < s.size(); ++i) {
      int32_t& size = out[out.size() - s.size() + i];
      if (s[i] != 1) size = s[i];
    }
  }
  return out;
}

TEST_P(Sweep, BinaryFunctions) {
  for (const auto& [sa, sb] : kOperands) {
    const Sizes so = broadcast(sa, sb);
    for (const ScalarType type :
         {kFloat, ScalarType::Long, ScalarType::Int, ScalarType::Half, ScalarType::BFloat16}) {
      const bool wild = type == kFloat;
      const double tolerance = type == ScalarType::Half       ? 2e-3
                               : type == ScalarType::BFloat16 ? 1.6e-2
                               : wild                         ? 3e-7
                                                              : 0.0;
      Array* a = random(type, sa, -5, 5, wild);
      Array* b = random(type, sb, -5, 5, wild);
      for (const char* name : {"add", "sub"}) {
        for (const int64_t alpha : {1, 3}) {
          compare(("aten::" + std::string(name) + ".out").c_str(),
                  {value(a), value(b), EValue(alpha)}, {{type, so}}, tolerance);
          compare(("aten::" + std::string(name) + ".Scalar_out").c_str(),
                  {value(a), EValue(int64_t{4}), EValue(alpha)}, {{type, sa}}, tolerance);
        }
      }
      compare("aten::rsub.Scalar_out", {value(a), EValue(int64_t{4}), EValue(int64_t{2})},
              {{type, sa}}, tolerance);
      for (const char* name : {"mul", "maximum", "minimum"}) {
        compare(("aten::" + std::string(name) + ".out").c_str(), {value(a), value(b)}, {{type, so}},
                tolerance);
      }
      if (wild) compare("aten::div.out", {value(a), value(b)}, {{type, so}}, tolerance);
      for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
        compare(("aten::" + std::string(name) + ".Tensor_out").c_str(), {value(a), value(b)},
                {{kBool, so}}, 0);
        compare(("aten::" + std::string(name) + ".Scalar_out").c_str(),
                {value(a), EValue(int64_t{2})}, {{kBool, sa}}, 0);
        compare(("aten::" + std::string(name) + ".Scalar_out").c_str(), {value(a), EValue(0.5)},
                {{kBool, sa}}, 0);
      }
      compare("aten::pow.Tensor_Scalar_out", {value(a), EValue(int64_t{2})}, {{type, sa}},
              tolerance);
    }
    Array *p = random(kBool, sa, -1, 1), *q = random(kBool, sb, -1, 1);
    for (const char* name : {"logical_and.out", "logical_or.out", "logical_xor.out",
                             "bitwise_and.Tensor_out", "bitwise_or.Tensor_out"}) {
      compare(("aten::" + std::string(name)).c_str(), {value(p), value(q)}, {{kBool, so}}, 0);
    }
  }
}

TEST_P(Sweep, ChannelsLastOperands) {
  const Sizes sizes = {2, 5, 7, 3};
  Array *a = random(kFloat, sizes, -3, 3, true, true),
        *b = random(kFloat, sizes, -3, 3, true, true);
  Array *plain = floats(sizes), *bias = floats({5, 1, 1});
  for (Array* other : {b, plain, bias}) {
    for (const bool channels_last : {true, false}) {
      compare("aten::add.out", {value(a), value(other), EValue(int64_t{1})}, {{kFloat, sizes}},
              3e-7, channels_last);
    }
  }
}

TEST_P(Sweep, NumbersBesideSmallTypes) {
  for (const ScalarType type : {kBool, ScalarType::Byte, ScalarType::Char, ScalarType::Short}) {
    Array* x = random(type, {3, 23}, -2, 3);
    for (const EValue& number :
         {EValue(int64_t{0}), EValue(int64_t{1}), EValue(int64_t{3}), EValue(int64_t{-1}),
          EValue(int64_t{256}), EValue(1.0), EValue(0.5), EValue(true), EValue(false)}) {
      for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
        compare(("aten::" + std::string(name) + ".Scalar_out").c_str(), {value(x), number},
                {{kBool, {3, 23}}}, 0);
      }
    }
  }
}

TEST_P(Sweep, IntegersWrap) {
  Array* a = make(ScalarType::Int, {5});
  for (size_t i = 0; i < 5; ++i) a->set(i, 2147483647.0 - static_cast<double>(i));
  compare("aten::mul.out", {value(a), value(a)}, {{ScalarType::Int, {5}}}, 0);
  compare("aten::add.out", {value(a), value(a), EValue(int64_t{1})}, {{ScalarType::Int, {5}}}, 0);
}

TEST_P(Sweep, ChosenElements) {
  for (const auto& [sa, sb] : kOperands) {
    const Sizes so = broadcast(sa, sb);
    for (const ScalarType type : {kFloat, ScalarType::Long, ScalarType::Half, ScalarType::Byte}) {
      Array *a = random(type, sa, 0, 5), *b = random(type, sb, 0, 5);
      Array *c = random(kBool, sb, -1, 1), *whole = random(kBool, so, -1, 1);
      compare("aten::where.self_out", {value(c), value(a), value(b)}, {{type, so}}, 0);
      compare("aten::where.self_out", {value(whole), value(a), value(b)}, {{type, so}}, 0);
      compare("aten::masked_fill.Scalar_out", {value(a), value(c), EValue(int64_t{3})},
              {{type, so}}, 0);
    }
  }
}

TEST_P(Sweep, NarrowUnaryFunctions) {
  for (const ScalarType type : {ScalarType::Half, ScalarType::BFloat16}) {
    // One unit of the last place: the portable kernels round a double.
    const double tolerance = type == ScalarType::Half ? 1e-3 : 8e-3;
    for (const int32_t n : {0, 1, 7, 16, 33, 1024, 5001}) {
      Array* x = random(type, {n}, -6.0, 6.0, /*wild=*/true);
      for (const char* name : {"exp", "tanh", "sigmoid", "sqrt", "abs", "neg", "relu", "erf"}) {
        compare(("aten::" + std::string(name) + ".out").c_str(), {value(x)}, {{type, {n}}},
                tolerance);
      }
      compare("aten::gelu.out", {value(x), EValue(std::string_view("none"))}, {{type, {n}}},
              tolerance);
      compare("aten::clamp.out", {value(x), EValue(-1.0), EValue(2.0)}, {{type, {n}}}, 0);
    }
  }
}

TEST_P(Sweep, IntegerUnaryFunctions) {
  for (const ScalarType type : {ScalarType::Long, ScalarType::Int, ScalarType::Byte}) {
    for (const int32_t n : {0, 1, 17, 70001}) {
      Array* x = random(type, {n}, type == ScalarType::Byte ? 0 : -90, 90);
      for (const char* name : {"abs", "neg", "sign", "relu"}) {
        compare(("aten::" + std::string(name) + ".out").c_str(), {value(x)}, {{type, {n}}}, 0);
      }
      compare("aten::clamp.out", {value(x), EValue(int64_t{3}), EValue(int64_t{40})}, {{type, {n}}},
              0);
      compare("aten::clamp.out", {value(x), EValue(), EValue(int64_t{40})}, {{type, {n}}}, 0);
    }
  }
  Array* flags = random(kBool, {33}, -1, 1);
  compare("aten::logical_not.out", {value(flags)}, {{kBool, {33}}}, 0);
  compare("aten::bitwise_not.out", {value(flags)}, {{kBool, {33}}}, 0);
  Array* lowest = make(ScalarType::Long, {1});
  lowest->set(0, -9223372036854775808.0);
  compare("aten::neg.out", {value(lowest)}, {{ScalarType::Long, {1}}}, 0);
}

TEST_P(Sweep, Casts) {
  const ScalarType types[] = {kFloat,
                              ScalarType::Half,
                              ScalarType::BFloat16,
                              ScalarType::Long,
                              ScalarType::Int,
                              ScalarType::Byte,
                              kBool,
                              ScalarType::Double};
  for (const ScalarType from : types) {
    for (const ScalarType to : types) {
      for (const int32_t n : {0, 1, 19, 3001}) {
        Array* x = random(from, {n}, from == ScalarType::Byte ? 0 : -300, 300);
        const double tolerance = to == ScalarType::BFloat16 ? 8e-3 : 1e-3;
        compare("aten::_to_copy.out", {value(x), EValue(false), EValue()}, {{to, {n}}},
                to == ScalarType::Half || to == ScalarType::BFloat16 ? tolerance : 0);
      }
    }
  }
  // What no integer is: the same in both, whatever it is.
  Array* wild = random(kFloat, {64}, -1e20, 1e20, /*wild=*/true);
  for (const ScalarType to : {ScalarType::Long, ScalarType::Int, ScalarType::Byte, kBool}) {
    compare("aten::_to_copy.out", {value(wild), EValue(false), EValue()}, {{to, {64}}}, 0);
  }
}

// Every half, to float and back.
TEST_P(Sweep, HalvesAreConvertedExactly) {
  for (const ScalarType type : {ScalarType::Half, ScalarType::BFloat16}) {
    Array* all = make(type, {65536});
    for (size_t i = 0; i < 65536; ++i) {
      all->data()[2 * i] = static_cast<uint8_t>(i);
      all->data()[2 * i + 1] = static_cast<uint8_t>(i >> 8);
    }
    compare("aten::_to_copy.out", {value(all), EValue(false), EValue()}, {{kFloat, {65536}}}, 0);
    // Half way between neighbours and beside that.
    Array* between = make(kFloat, {3 * 65536});
    for (size_t i = 0; i + 1 < 65536; ++i) {
      const double a = all->at(i), b = all->at(i + 1), middle = (a + b) / 2;
      between->set(3 * i, middle);
      between->set(3 * i + 1, middle * (1 + 1e-7));
      between->set(3 * i + 2, middle * (1 - 1e-7));
    }
    for (size_t i = 3 * 65535; i < 3 * 65536; ++i) between->set(i, 0.0);
    compare("aten::_to_copy.out", {value(between), EValue(false), EValue()}, {{type, {3 * 65536}}},
            0);
  }
}

PETREL_SWEEP_ALL();

}  // namespace
}  // namespace petrel::runtime
