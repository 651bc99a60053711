// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions in double precision from +, -, *, / and sqrt alone, so
// that every platform computes the same bits. Accurate to a few units of the
// last place of a double, far below one of a float, over the range of floats.
// Infinities and NaN travel as IEEE 754 says.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_REFERENCE_MATH_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_REFERENCE_MATH_H_

namespace petrel::runtime::reference_math {

double exp(double x);
double expm1(double x);
double log(double x);  // NaN below 0, -inf at 0
double log1p(double x);
double log2(double x);
double log10(double x);
double sin(double x);
double cos(double x);
double tan(double x);
double asin(double x);  // NaN outside [-1, 1]
double acos(double x);
double atan(double x);
double atan2(double y, double x);
double sinh(double x);
double cosh(double x);
double tanh(double x);
double asinh(double x);
double acosh(double x);
double atanh(double x);
double erf(double x);
double pow(double base, double exponent);

}  // namespace petrel::runtime::reference_math

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_REFERENCE_MATH_H_
