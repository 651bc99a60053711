// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/reference_math.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

// From <cmath> only what IEEE 754 defines exactly: sqrt, floor, fmod, frexp,
// ldexp and the classification of numbers.
namespace petrel::runtime::reference_math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
constexpr double kLn2 = 0.69314718055994530942;
// ln 2 in two parts: the first has trailing zeros, so k * kLn2High is exact for
// the k that occur.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// sum of r^n / n! for n >= first, |r| <= 0.35.
double exp_tail(double r, int first) {
  double term = 1.0;
  for (int n = 1; n < first; ++n) term *= r / n;
  double sum = 0.0;
  double terms[20];
  int count = 0;
  for (int n = first; n < first + 18; ++n) {
    term *= n == 0 ? 1.0 : r / n;
    terms[count++] = term;
  }
  while (count > 0) sum += terms[--count];  // small terms first
  return sum;
}

// x = k ln 2 + r, |r| <= ln 2 / 2.
int reduce_exp(double x, double* out_r) {
  const double k = std::floor(x / kLn2 + 0.5);
  *out_r = (x - k * kLn2High) - k * kLn2Low;
  return static_cast<int>(k);
}

// sum (-1)^n r^(2n+odd) / (2n+odd)!, |r| <= pi/4.
double sin_cos_series(double r, int odd) {
  double term = odd != 0 ? r : 1.0;
  double terms[12];
  for (int n = 0; n < 12; ++n) {
    terms[n] = term;
    const double k = 2.0 * n + odd;
    term *= -r * r / ((k + 1.0) * (k + 2.0));
  }
  double sum = 0.0;
  for (int n = 11; n >= 0; --n) sum += terms[n];
  return sum;
}

// The bits of 2/pi behind the point, enough for the largest double.
constexpr uint64_t kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

// 32 bits of 2/pi from bit `first` behind the point on; before it are zeros.
uint32_t bits_of_two_over_pi(int first) {
  uint32_t bits = 0;
  for (int i = first; i < first + 32; ++i) {
    const uint64_t bit = i < 0 ? 0 : kTwoOverPi[i / 64] >> (63 - i % 64) & 1;
    bits = bits << 1 | static_cast<uint32_t>(bit);
  }
  return bits;
}

// reduce_quadrant() for a finite x of 2^20 or more: with x = m 2^e, m of 53 bits,
// those bits of 2/pi that give multiples of 4 are left out, and m times 192 bits
// of the rest gives the quadrant in its two highest bits and then the fraction.
int reduce_large(double x, double* out_r) {
  int exponent = 0;
  const uint64_t m = static_cast<uint64_t>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
  const int first = exponent - 53 - 2;
  constexpr int kWords = 6;
  uint32_t words[kWords];  // low words first
  for (int i = 0; i < kWords; ++i) {
    words[i] = bits_of_two_over_pi(first + 32 * (kWords - 1 - i));
  }
  uint32_t product[kWords] = {};
  for (int half = 0; half < 2; ++half) {
    const uint64_t factor = half == 0 ? m & 0xffffffff : m >> 32;
    uint64_t carry = 0;
    for (int i = 0; i + half < kWords; ++i) {
      carry += factor * words[i] + product[i + half];
      product[i + half] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  int quadrant = static_cast<int>(product[kWords - 1] >> 30);
  uint64_t high = 0, low = 0;  // 128 bits of the fraction
  high = static_cast<uint64_t>(product[5]) << 34 | static_cast<uint64_t>(product[4]) << 2 |
         product[3] >> 30;
  low = static_cast<uint64_t>(product[3]) << 34 | static_cast<uint64_t>(product[2]) << 2 |
        product[1] >> 30;
  double sign = 1.0;
  if (high >> 63 != 0) {  // nearer to the next quadrant
    ++quadrant;
    sign = -1.0;
    high = ~high;
    low = ~low;
  }
  const double fraction =
      std::ldexp(static_cast<double>(high), -64) + std::ldexp(static_cast<double>(low), -128);
  *out_r = std::copysign(1.0, x) * sign * fraction * (kPi / 2.0);
  return (x < 0.0 ? -quadrant : quadrant) & 3;
}

// x = q pi/2 + r; returns q mod 4. pi/2 in three parts of 33, 33 and 53 bits,
// so that q times the first two is exact for |q| < 2^20.
int reduce_quadrant(double x, double* out_r) {
  if (std::fabs(x) > 1.6e6) return reduce_large(x, out_r);
  constexpr double kPart1 = 0x1.921fb54400000p+0;
  constexpr double kPart2 = 0x1.0b4611a600000p-34;
  constexpr double kPart3 = 0x1.3198a2e037073p-69;
  const double q = std::floor(x / (kPi / 2.0) + 0.5);
  *out_r = ((x - q * kPart1) - q * kPart2) - q * kPart3;
  return static_cast<int>(static_cast<int64_t>(q) & 3);
}

}  // namespace

double exp(double x) {
  if (x != x) return x;
  if (x > 709.8) return kInfinity;
  if (x < -745.2) return 0.0;
  double r = 0.0;
  const int k = reduce_exp(x, &r);
  return std::ldexp(exp_tail(r, 0), k);
}

double expm1(double x) {
  if (std::fabs(x) < 0.35) return exp_tail(x, 1);
  return exp(x) - 1.0;
}

double log(double x) {
  if (x != x || x < 0.0) return kNaN;
  if (x == 0.0) return -kInfinity;
  if (x == kInfinity) return x;
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // m in [0.5, 1)
  if (m < 0.70710678118654752440) {
    m *= 2.0;
    --exponent;
  }
  // ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.172.
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double sum = 0.0;
  for (int n = 12; n >= 0; --n) sum = sum * s2 + 1.0 / (2.0 * n + 1.0);
  return exponent * kLn2High + (2.0 * s * sum + exponent * kLn2Low);
}

double log1p(double x) {
  if (x == kInfinity) return x;
  const double u = 1.0 + x;
  if (u == 1.0) return x;
  if (u <= 0.0) return log(u);
  // The rounding of 1 + x is made good by its relative error.
  return log(u) * (x / (u - 1.0));
}

double log2(double x) {
  int exponent = 0;
  // Powers of two are exact.
  if (x > 0.0 && x < kInfinity && std::frexp(x, &exponent) == 0.5) return exponent - 1.0;
  return log(x) / kLn2;
}

double log10(double x) { return log(x) / 2.30258509299404568402; }

double sin(double x) {
  if (x != x || std::fabs(x) == kInfinity) return kNaN;
  double r = 0.0;
  switch (reduce_quadrant(x, &r)) {
    case 0:
      return sin_cos_series(r, 1);
    case 1:
      return sin_cos_series(r, 0);
    case 2:
      return -sin_cos_series(r, 1);
    default:
      return -sin_cos_series(r, 0);
  }
}

double cos(double x) {
  if (x != x || std::fabs(x) == kInfinity) return kNaN;
  double r = 0.0;
  switch (reduce_quadrant(x, &r)) {
    case 0:
      return sin_cos_series(r, 0);
    case 1:
      return -sin_cos_series(r, 1);
    case 2:
      return -sin_cos_series(r, 0);
    default:
      return sin_cos_series(r, 1);
  }
}

double tan(double x) { return sin(x) / cos(x); }

double atan(double x) {
  if (x != x) return x;
  if (x < 0.0) return -atan(-x);
  if (x > 1.0) return kPi / 2.0 - atan(1.0 / x);
  // Halving the angle twice: tan(a/2) = t / (1 + sqrt(1 + t^2)).
  double t = x;
  for (int i = 0; i < 2; ++i) t = t / (1.0 + std::sqrt(1.0 + t * t));
  const double t2 = t * t;  // t <= 0.2
  double sum = 0.0;
  for (int n = 12; n >= 0; --n) sum = 1.0 / (2.0 * n + 1.0) - sum * t2;
  return 4.0 * t * sum;
}

double asin(double x) {
  if (std::fabs(x) == 1.0) return x * (kPi / 2.0);
  return atan(x / std::sqrt((1.0 - x) * (1.0 + x)));  // NaN where it must be
}

double acos(double x) {
  if (x == -1.0) return kPi;
  return 2.0 * atan(std::sqrt((1.0 - x) / (1.0 + x)));
}

double atan2(double y, double x) {
  if (x != x || y != y) return kNaN;
  if (y == 0.0) {
    return std::signbit(x) ? std::copysign(kPi, y) : y;
  }
  if (x == 0.0) return std::copysign(kPi / 2.0, y);
  if (std::fabs(x) == kInfinity && std::fabs(y) == kInfinity) {
    return std::copysign(x > 0 ? kPi / 4.0 : 3.0 * kPi / 4.0, y);
  }
  const double angle = atan(std::fabs(y) / std::fabs(x));
  return std::copysign(x > 0.0 ? angle : kPi - angle, y);
}

double sinh(double x) {
  if (std::fabs(x) < 0.35) {
    const double e = expm1(x);
    return 0.5 * (e + e / (1.0 + e));
  }
  if (std::fabs(x) > 709.0) {  // e^x alone would overflow too early
    const double half = exp(0.5 * std::fabs(x));
    return std::copysign(0.5 * half * half, x);
  }
  const double e = exp(x);
  return 0.5 * (e - 1.0 / e);
}

double cosh(double x) {
  const double a = std::fabs(x);
  if (a > 709.0) {
    const double half = exp(0.5 * a);
    return 0.5 * half * half;
  }
  const double e = exp(a);
  return 0.5 * (e + 1.0 / e);
}

double tanh(double x) {
  if (std::fabs(x) > 22.0) return std::copysign(1.0, x);
  const double e = expm1(2.0 * x);
  return e / (e + 2.0);  // NaN stays NaN
}

double asinh(double x) {
  const double a = std::fabs(x);
  if (a > 1e8) return std::copysign(log(a) + kLn2, x);
  return std::copysign(log1p(a + a * a / (1.0 + std::sqrt(a * a + 1.0))), x);
}

double acosh(double x) {
  if (x < 1.0) return kNaN;
  if (x > 1e8) return log(x) + kLn2;
  const double t = x - 1.0;
  return log1p(t + std::sqrt(t * (x + 1.0)));
}

double atanh(double x) {
  if (std::fabs(x) > 1.0) return kNaN;
  if (std::fabs(x) == 1.0) return x * kInfinity;
  return 0.5 * log1p(2.0 * x / (1.0 - x));
}

double erf(double x) {
  if (x != x) return x;
  const double a = std::fabs(x);
  if (a > 6.0) return std::copysign(1.0, x);
  if (a < 2.5) {
    // 2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) / (2n+1)!!: all terms positive.
    double term = a;
    double sum = a;
    for (int n = 1; n < 60; ++n) {
      term *= 2.0 * a * a / (2.0 * n + 1.0);
      sum += term;
    }
    return std::copysign(2.0 / std::sqrt(kPi) * exp(-a * a) * sum, x);
  }
  // Continued fraction of the complement.
  double fraction = 0.0;
  for (int n = 60; n >= 1; --n) fraction = 0.5 * n / (a + fraction);
  return std::copysign(1.0 - exp(-a * a) / (std::sqrt(kPi) * (a + fraction)), x);
}

double pow(double base, double exponent) {
  if (exponent == 0.0 || base == 1.0) return 1.0;
  if (base != base || exponent != exponent) return kNaN;
  const bool whole = exponent == std::floor(exponent);
  const bool odd = whole && std::fmod(std::fabs(exponent), 2.0) == 1.0;
  // Small whole powers by squaring are exact where the result is.
  if (whole && std::fabs(exponent) <= 64.0) {
    double result = 1.0;
    double square = base;
    for (int n = static_cast<int>(std::fabs(exponent)); n > 0; n >>= 1) {
      if ((n & 1) != 0) result *= square;
      square *= square;
    }
    return exponent < 0.0 ? 1.0 / result : result;
  }
  if (exponent == 0.5 && base >= 0.0) return std::sqrt(base);
  if (std::fabs(exponent) == kInfinity) {
    const double a = std::fabs(base);
    if (a == 1.0) return 1.0;
    return (a > 1.0) == (exponent > 0.0) ? kInfinity : 0.0;
  }
  if (base == 0.0 || std::fabs(base) == kInfinity) {
    const bool large = (base == 0.0) == (exponent < 0.0);
    const double magnitude = large ? kInfinity : 0.0;
    return odd ? std::copysign(magnitude, base) : magnitude;
  }
  if (base < 0.0 && !whole) return kNaN;
  const double magnitude = exp(exponent * log(std::fabs(base)));
  return odd && base < 0.0 ? -magnitude : magnitude;
}

}  // namespace petrel::runtime::reference_math
