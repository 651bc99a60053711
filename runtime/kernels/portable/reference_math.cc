// SPDX-License-Identifier: Apache-2.0
//
// The functions are C, because generated C calls the very same ones. They use of
// <math.h> only what IEEE 754 defines exactly: sqrt, floor, fmod, frexp, ldexp and the
// classification of numbers.
#include "runtime/kernels/portable/reference_math.h"

#include "runtime/micro/math/acos.h"
#include "runtime/micro/math/acosh.h"
#include "runtime/micro/math/asin.h"
#include "runtime/micro/math/asinh.h"
#include "runtime/micro/math/atan.h"
#include "runtime/micro/math/atan2.h"
#include "runtime/micro/math/atanh.h"
#include "runtime/micro/math/cos.h"
#include "runtime/micro/math/cosh.h"
#include "runtime/micro/math/erf.h"
#include "runtime/micro/math/exp.h"
#include "runtime/micro/math/expm1.h"
#include "runtime/micro/math/log.h"
#include "runtime/micro/math/log10.h"
#include "runtime/micro/math/log1p.h"
#include "runtime/micro/math/log2.h"
#include "runtime/micro/math/pow.h"
#include "runtime/micro/math/sin.h"
#include "runtime/micro/math/sinh.h"
#include "runtime/micro/math/tan.h"
#include "runtime/micro/math/tanh.h"

namespace petrel::runtime::reference_math {

double exp(double x) { return petrel_exp(x); }
double expm1(double x) { return petrel_expm1(x); }
double log(double x) { return petrel_log(x); }
double log1p(double x) { return petrel_log1p(x); }
double log2(double x) { return petrel_log2(x); }
double log10(double x) { return petrel_log10(x); }
double sin(double x) { return petrel_sin(x); }
double cos(double x) { return petrel_cos(x); }
double tan(double x) { return petrel_tan(x); }
double asin(double x) { return petrel_asin(x); }
double acos(double x) { return petrel_acos(x); }
double atan(double x) { return petrel_atan(x); }
double sinh(double x) { return petrel_sinh(x); }
double cosh(double x) { return petrel_cosh(x); }
double tanh(double x) { return petrel_tanh(x); }
double asinh(double x) { return petrel_asinh(x); }
double acosh(double x) { return petrel_acosh(x); }
double atanh(double x) { return petrel_atanh(x); }
double erf(double x) { return petrel_erf(x); }
double atan2(double y, double x) { return petrel_atan2(y, x); }
double pow(double base, double exponent) { return petrel_pow(base, exponent); }

}  // namespace petrel::runtime::reference_math
