// SPDX-License-Identifier: Apache-2.0
//
// Angles, powers and divisions with a rest, and integers and doubles in
// operators of one and two operands.
#include "runtime/kernels/optimized/sweep.h"

#include <cmath>

namespace petrel::runtime {
namespace {

constexpr ScalarType kDouble = ScalarType::Double;

TEST_P(Sweep, AnglesAndHyperbolas) {
  const std::pair<const char*, std::pair<double, double>> ranges[] = {
      {"sin", {-7, 7}},         {"sin", {-2e5, 2e5}},    {"sin", {-3e38, 3e38}},
      {"cos", {-7, 7}},         {"cos", {-2e5, 2e5}},    {"cos", {-3e5, 3e8}},
      {"tan", {-1.5, 1.5}},     {"asin", {-1.1, 1.1}},   {"acos", {-1.1, 1.1}},
      {"atan", {-3, 3}},        {"atan", {-1e30, 1e30}}, {"sinh", {-1, 1}},
      {"sinh", {-92, 92}},      {"cosh", {-92, 92}},     {"asinh", {-5, 5}},
      {"asinh", {-1e30, 1e30}}, {"acosh", {0.9, 5}},     {"acosh", {1, 1e30}},
      {"atanh", {-1.1, 1.1}},   {"sin", {-1e-3, 1e-3}},  {"atanh", {-1e-3, 1e-3}}};
  for (const auto& [name, range] : ranges) {
    for (const int32_t n : {1, 17, 5000}) {
      Array* x = random(kFloat, {n}, range.first, range.second, /*wild=*/true);
      compare(("aten::" + std::string(name) + ".out").c_str(), {value(x)}, {{kFloat, {n}}}, 6e-7);
    }
  }
}

// Where a cosine vanishes all the more digits of the argument count.
TEST_P(Sweep, AnglesNearMultiplesOfAQuarterTurn) {
  Array* x = make(kFloat, {20000});
  for (size_t i = 0; i < 20000; ++i) {
    x->set(i, static_cast<float>(static_cast<double>(i) * 8 * std::acos(0.0)));
  }
  for (const char* name : {"aten::sin.out", "aten::cos.out", "aten::tan.out"}) {
    compare(name, {value(x)}, {{kFloat, {20000}}}, 3e-7);
  }
}

TEST_P(Sweep, PairFunctions) {
  const std::pair<Sizes, Sizes> operands[] = {
      {{1}, {1}}, {{5000}, {5000}}, {{33, 21}, {21}}, {{33, 21}, {33, 1}}, {{}, {19}}};
  for (const auto& [sa, sb] : operands) {
    const Sizes so = sa.size() >= sb.size() ? sa : sb;
    Array *a = random(kFloat, sa, -6, 6, true), *b = random(kFloat, sb, -4, 4, true);
    compare("aten::atan2.out", {value(a), value(b)}, {{kFloat, so}}, 6e-7);
    compare("aten::pow.Tensor_Tensor_out", {value(a), value(b)}, {{kFloat, so}}, 3e-7);
    compare("aten::fmod.Tensor_out", {value(a), value(b)}, {{kFloat, so}}, 0);
    compare("aten::remainder.Tensor_out", {value(a), value(b)}, {{kFloat, so}}, 0);
    compare("aten::floor_divide.out", {value(a), value(b)}, {{kFloat, so}}, 0);
    for (const char* mode : {"floor", "trunc"}) {
      compare("aten::div.out_mode", {value(a), value(b), EValue(std::string_view(mode))},
              {{kFloat, so}}, 0);
      compare("aten::div.Scalar_mode_out", {value(a), EValue(0.75), EValue(std::string_view(mode))},
              {{kFloat, sa}}, 0);
    }
    compare("aten::fmod.Scalar_out", {value(a), EValue(0.7)}, {{kFloat, sa}}, 0);
    compare("aten::remainder.Scalar_out", {value(a), EValue(-0.7)}, {{kFloat, sa}}, 0);
    for (const double e : {2.3, -1.7, 3.0, 0.5, -1.0, 2.0, 0.0, 7.0, -2.0, 1e30}) {
      Array* positive = random(kFloat, sa, e == 0.5 ? 0.0 : -6, 6, e != 0.5);
      compare("aten::pow.Tensor_Scalar_out", {value(positive), EValue(e)}, {{kFloat, sa}}, 3e-7);
    }
    compare("aten::pow.Scalar_out", {EValue(2.0), value(a)}, {{kFloat, sa}}, 3e-7);
  }
  // Large results, small results and large quotients.
  Array *x = random(kFloat, {9000}, 0, 1e4), *y = random(kFloat, {9000}, -11, 11);
  compare("aten::pow.Tensor_Tensor_out", {value(x), value(y)}, {{kFloat, {9000}}}, 3e-7);
  Array *far = random(kFloat, {9000}, -1e15, 1e15), *near = random(kFloat, {9000}, -1e3, 1e3);
  compare("aten::fmod.Tensor_out", {value(far), value(near)}, {{kFloat, {9000}}}, 0);
  compare("aten::remainder.Tensor_out", {value(far), value(near)}, {{kFloat, {9000}}}, 0);
}

// Integers alone are computed exactly, whatever the output is.
TEST_P(Sweep, PairFunctionsOfIntegersIntoFloats) {
  const ScalarType kByte = ScalarType::Byte;
  Array* a = make(kByte, {300});
  Array* b = make(kByte, {300});
  for (size_t i = 0; i < 300; ++i) {
    a->set(i, static_cast<double>(i * 7 % 256));
    b->set(i, static_cast<double>(i * 5 % 255 + 1));
  }
  for (const char* name : {"aten::add.out", "aten::sub.out"}) {
    compare(name, {value(a), value(b), EValue(1)}, {{kFloat, {300}}}, 0);
  }
  for (const char* name :
       {"aten::mul.out", "aten::div.out", "aten::fmod.Tensor_out", "aten::remainder.Tensor_out",
        "aten::floor_divide.out", "aten::pow.Tensor_Tensor_out", "aten::maximum.out"}) {
    compare(name, {value(a), value(b)}, {{kFloat, {300}}}, 0);
  }
  for (const char* name : {"aten::mul.Scalar_out", "aten::fmod.Scalar_out",
                           "aten::remainder.Scalar_out", "aten::pow.Tensor_Scalar_out"}) {
    compare(name, {value(a), EValue(3)}, {{kFloat, {300}}}, 0);
  }
}

// A float has four times the bytes of a bool: the margins of the output show it.
TEST_P(Sweep, PairFunctionsOfFloatsIntoBools) {
  Array *a = floats({9, 40}), *b = floats({9, 40});
  for (const char* name : {"aten::add.out", "aten::sub.out"}) {
    compare(name, {value(a), value(b), EValue(1)}, {{kBool, {9, 40}}}, 0);
    compare(name, {value(a), value(b), EValue(2.0)}, {{kBool, {9, 40}}}, 0);
  }
  for (const char* name :
       {"aten::mul.out", "aten::div.out", "aten::maximum.out", "aten::atan2.out",
        "aten::fmod.Tensor_out", "aten::remainder.Tensor_out", "aten::floor_divide.out",
        "aten::pow.Tensor_Tensor_out", "aten::gt.Tensor_out", "aten::ne.Tensor_out"}) {
    compare(name, {value(a), value(b)}, {{kBool, {9, 40}}}, 0);
  }
  for (const char* name : {"aten::add.Scalar_out", "aten::rsub.Scalar_out"}) {
    compare(name, {value(a), EValue(0.5), EValue(1)}, {{kBool, {9, 40}}}, 0);
  }
  compare("aten::pow.Tensor_Scalar_out", {value(a), EValue(3.0)}, {{kBool, {9, 40}}}, 0);
  compare("aten::pow.Scalar_out", {EValue(2.0), value(a)}, {{kBool, {9, 40}}}, 0);
}

TEST_P(Sweep, PairFunctionsOfHalves) {
  Array *a = random(ScalarType::Half, {700}, -6, 6), *b = random(ScalarType::Half, {700}, 1, 4);
  for (const char* name : {"aten::atan2.out", "aten::fmod.Tensor_out"}) {
    compare(name, {value(a), value(b)}, {{ScalarType::Half, {700}}}, 1e-3);
  }
}

TEST_P(Sweep, MixedTypesMeetAsFloats) {
  for (const ScalarType type : {ScalarType::Long, ScalarType::Int, ScalarType::Byte, kBool,
                                ScalarType::Half, ScalarType::Short, ScalarType::Char}) {
    Array *a = random(type, {40, 30}, 0, 50), *b = floats({30}, 1, 4);
    compare("aten::mul.out", {value(a), value(b)}, {{kFloat, {40, 30}}}, 1e-6);
    compare("aten::sub.out", {value(b), value(a), EValue(int64_t{1})}, {{kFloat, {40, 30}}}, 1e-6);
    compare("aten::lt.Tensor_out", {value(a), value(b)}, {{kBool, {40, 30}}}, 0);
    if (type != ScalarType::Half) {
      compare("aten::div.out", {value(a), value(a)}, {{kFloat, {40, 30}}}, 1e-6);
      compare("aten::mul.Scalar_out", {value(a), EValue(0.3)}, {{kFloat, {40, 30}}}, 1e-6);
    }
  }
}

TEST_P(Sweep, DoublesAndSmallIntegers) {
  const std::pair<Sizes, Sizes> operands[] = {
      {{1}, {1}}, {{5000}, {5000}}, {{33, 21}, {21}}, {{33, 21}, {33, 1}}, {{}, {4000}}};
  for (const ScalarType type : {kDouble, ScalarType::Long, ScalarType::Int, ScalarType::Short,
                                ScalarType::Char, ScalarType::Byte}) {
    const double low = type == ScalarType::Byte ? 0 : -120;
    for (const auto& [sa, sb] : operands) {
      const Sizes so = sa.size() >= sb.size() ? sa : sb;
      Array *a = random(type, sa, low, 120), *b = random(type, sb, low, 120);
      for (const char* name : {"add", "sub"}) {
        compare(("aten::" + std::string(name) + ".out").c_str(),
                {value(a), value(b), EValue(int64_t{1})}, {{type, so}}, 0);
      }
      compare("aten::rsub.Scalar_out", {value(a), EValue(int64_t{4}), EValue(int64_t{1})},
              {{type, sa}}, 0);
      for (const char* name : {"mul.out", "maximum.out", "minimum.out"}) {
        compare(("aten::" + std::string(name)).c_str(), {value(a), value(b)}, {{type, so}}, 0);
      }
      for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
        compare(("aten::" + std::string(name) + ".Tensor_out").c_str(), {value(a), value(b)},
                {{kBool, so}}, 0);
        compare(("aten::" + std::string(name) + ".Scalar_out").c_str(),
                {value(a), EValue(int64_t{3})}, {{kBool, sa}}, 0);
      }
      compare("aten::clamp.out", {value(a), EValue(int64_t{3}), EValue(int64_t{70})}, {{type, sa}},
              0);
      for (const char* name : {"abs", "neg", "sign", "relu"}) {
        compare(("aten::" + std::string(name) + ".out").c_str(), {value(a)}, {{type, sa}}, 0);
      }
      if (type == kDouble) {
        compare("aten::div.out", {value(a), value(b)}, {{type, so}}, 0);
        continue;
      }
      for (const char* name : {"bitwise_and", "bitwise_or", "bitwise_xor"}) {
        compare(("aten::" + std::string(name) + ".Tensor_out").c_str(), {value(a), value(b)},
                {{type, so}}, 0);
        compare(("aten::" + std::string(name) + ".Scalar_out").c_str(),
                {value(a), EValue(int64_t{5})}, {{type, sa}}, 0);
      }
      Array* by = random(type, sb, 0, 9);
      for (const char* name : {"left_shift", "right_shift"}) {
        const std::string full = "aten::bitwise_" + std::string(name);
        compare((full + ".Tensor_out").c_str(), {value(a), value(by)}, {{type, so}}, 0);
        compare((full + ".Tensor_Scalar_out").c_str(), {value(a), EValue(int64_t{2})}, {{type, sa}},
                0);
      }
      compare("aten::bitwise_not.out", {value(a)}, {{type, sa}}, 0);
    }
  }
}

TEST_P(Sweep, ShiftsByTheWidthAndMore) {
  for (const ScalarType type :
       {ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::Long}) {
    Array *a = make(type, {480}), *by = make(type, {480});
    for (size_t i = 0; i < 480; ++i) {
      const double number = i % 4 == 0 ? 5 : i % 4 == 1 ? 100 : i % 4 == 2 ? 127 : 255;
      a->set(i, type == ScalarType::Byte || number < 128 ? number : -3);
      by->set(i, static_cast<double>(i / 4));
    }
    for (const char* name :
         {"aten::bitwise_left_shift.Tensor_out", "aten::bitwise_right_shift.Tensor_out"}) {
      compare(name, {value(a), value(by)}, {{type, {480}}}, 0);
    }
  }
}

TEST_P(Sweep, DoubleFunctions) {
  Array* x = random(kDouble, {3000}, 0.01, 0.99);
  for (const char* name :
       {"exp",  "expm1", "log",   "log1p", "log2",  "log10",   "sin",   "cos",       "tan",
        "asin", "acos",  "atan",  "sinh",  "cosh",  "tanh",    "asinh", "atanh",     "erf",
        "sqrt", "ceil",  "floor", "trunc", "round", "sigmoid", "rsqrt", "reciprocal"}) {
    compare(("aten::" + std::string(name) + ".out").c_str(), {value(x)}, {{kDouble, {3000}}},
            1e-13);
  }
  Array* halves = random(kDouble, {64}, -9, 9);
  for (size_t i = 0; i < 64; ++i) halves->set(i, static_cast<double>(i) - 31.5);
  compare("aten::round.out", {value(halves)}, {{kDouble, {64}}}, 0);
  for (const char* how : {"none", "tanh"}) {
    compare("aten::gelu.out", {value(x), EValue(std::string_view(how))}, {{kDouble, {3000}}},
            1e-13);
  }
}

TEST_P(Sweep, KindsOfNumbers) {
  Array* x = random(kFloat, {3000}, -3, 3, /*wild=*/true);
  compare("aten::isnan.out", {value(x)}, {{kBool, {3000}}}, 0);
  compare("aten::isinf.out", {value(x)}, {{kBool, {3000}}}, 0);
  Array *p = random(kBool, {300}, -1, 1), *q = random(kBool, {300}, -1, 1);
  for (const char* name :
       {"aten::eq.Tensor_out", "aten::ne.Tensor_out", "aten::bitwise_xor.Tensor_out"}) {
    compare(name, {value(p), value(q)}, {{kBool, {300}}}, 0);
  }
  Array* probability = random(kFloat, {3000}, -0.1, 1.1);
  compare("aten::logit.out", {value(probability), EValue()}, {{kFloat, {3000}}}, 1e-6);
  compare("aten::logit.out", {value(probability), EValue(0.01)}, {{kFloat, {3000}}}, 1e-6);
}

PETREL_SWEEP_ALL();

}  // namespace
}  // namespace petrel::runtime
