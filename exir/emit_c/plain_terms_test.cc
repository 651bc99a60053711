// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/plain_terms.h"

#include <string>

#include "gtest/gtest.h"

namespace petrel::exir::emit_c {
namespace {

void expect(const std::string& text, const std::string& plain) {
  EXPECT_EQ(with_plain_terms(text), plain) << text;
}

TEST(PlainTerms, FactorsOfOneAndTermsOfZeroGo) {
  expect("p * 2 - 0 + r * 1;", "p * 2 + r;");
  expect("x[1 * y];", "x[y];");
  expect("for (i = 0; i < 1 * 12 * 5; ++i)", "for (i = 0; i < 12 * 5; ++i)");
  expect("a && 0 + 0 == 0 && 1 * 1 == 1", "a && 0 == 0 && 1 == 1");
  expect("f(arena + 0, context->arena + 0)", "f(arena, context->arena)");
  expect("a = 0 + b;", "a = b;");
  expect("f(0 - b);", "f(-b);");
  expect("f(0 * 2 - 1);", "f(-1);");
  expect("f(0 - -b);", "f(0 - -b);");
  expect("x = w % 1 * lines;", "x = w % 1 * lines;");
}

TEST(PlainTerms, ProductsWithZeroGo) {
  expect("int r, c; y[r * 4 + c] = b[r * 0 + c * 1];", "int r, c; y[r * 4 + c] = b[c];");
  expect("int n; f(n, n / 6 * 0 + n % 6 * 1);", "int n; f(n, n % 6);");
  expect("int n; f(n); return in + n * 0 + m * 1;", "int n; f(n); return in + m;");
  expect("int r, t; f(r, t); y = x + c + (t + r * 3) * 0;", "int r, t; f(r, t); y = x + c;");
  expect("int r; f(r); y = x + 4 * (r - 1) * 0;", "int r; f(r); y = x;");
  expect("y = x - 0 * 2;", "y = x;");
  expect("f(0 * 8 + place);", "f(place);");
}

TEST(PlainTerms, WhatMayMeanSomethingStays) {
  for (const char* text : {"int r; b[r * 0];",
                           "f(x) * 0;",
                           "int x; g(x); y = f(x) * 0;",
                           "int x; g(x); y = (f(x) + 1) * 0;",
                           "int x; g(x); y = (int32_t)(x) * 0;",
                           "int x; g(x); y = (x[1]) * 0;",
                           "int x; y = (x + 1) * 0;",
                           "x + 0.0;",
                           "x * 1.0;",
                           "x * 1u;",
                           "x + 0x1p0;",
                           "*1 * 2",
                           "a - 0 * b;",
                           "a / 1 * b;",
                           "(float *)1",
                           "x = (size_t)1 * sizeof y;",
                           "x - 1e-1 + 0.5;",
                           "\"x + 0\";",
                           "/* [1, 1 * 3] + 0 */",
                           "#define X(y) (y + 0)\n",
                           "x += 0;",
                           "a ? 0 : b;",
                           "x << 0;",
                           "y = x - 0 * f(z);",
                           "y = 0 * z * 2;",
                           "int x10; x10 * 10;"}) {
    expect(text, text);
  }
}

// Moving all that is behind what goes would run into the test's time limit.
TEST(PlainTerms, TakesLongTexts) {
  std::string text, plain;
  for (int i = 0; i < 200000; ++i) {
    text += "f(in + 0, out + 0, n * 1);\n";
    plain += "f(in, out, n);\n";
  }
  EXPECT_TRUE(with_plain_terms(text) == plain);
}

TEST(PlainTerms, LinesStay) {
  expect("a +\n    0;\nb", "a;\nb");
  expect("  return in + 0 +\n         b * 1;\n", "  return in +\n         b;\n");
  expect("", "");
}

}  // namespace
}  // namespace petrel::exir::emit_c
