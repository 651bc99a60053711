/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_QUADRANT_H_
#define PETREL_RUNTIME_MICRO_MATH_QUADRANT_H_

#include <math.h>
#include <stdint.h>

#include "runtime/micro/math/constants.h"

/* sum (-1)^n r^(2n+odd) / (2n+odd)!, |r| <= pi/4. */
static double petrel_sin_cos_series(double r, int odd) {
  double term = odd != 0 ? r : 1.0;
  double terms[12];
  for (int n = 0; n < 12; ++n) {
    terms[n] = term;
    const double k = 2.0 * (double)n + (double)odd;
    term *= -r * r / ((k + 1.0) * (k + 2.0));
  }
  double sum = 0.0;
  for (int n = 11; n >= 0; --n) {
    sum += terms[n];
  }
  return sum;
}

/* The bits of 2/pi behind the point, enough for the largest double. */
static const uint64_t petrel_two_over_pi[] = {
    0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u,
    0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u,
    0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu,
    0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu,
    0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu};

/* 32 bits of 2/pi from bit `first` behind the point on; before it are zeros. */
static uint32_t petrel_bits_of_two_over_pi(int first) {
  uint32_t bits = 0;
  for (int i = first; i < first + 32; ++i) {
    const uint64_t bit = i < 0 ? 0u : petrel_two_over_pi[i / 64] >> (63 - i % 64) & 1;
    bits = bits << 1 | (uint32_t)(bit);
  }
  return bits;
}

/* petrel_reduce_quadrant() for a finite x of 2^20 or more: with x = m 2^e, m of 53 bits,
 * those bits of 2/pi that give multiples of 4 are left out, and m times 192 bits
 * of the rest gives the quadrant in its two highest bits and then the fraction. */
static int petrel_reduce_large(double x, double *out_r) {
  int exponent = 0;
  const uint64_t m = (uint64_t)(ldexp(frexp(fabs(x), &exponent), 53));
  const int first = exponent - 53 - 2;
  uint32_t words[6]; /* low words first */
  for (int i = 0; i < 6; ++i) {
    words[i] = petrel_bits_of_two_over_pi(first + 32 * (5 - i));
  }
  uint32_t product[6] = {0};
  for (int half = 0; half < 2; ++half) {
    const uint64_t factor = half == 0 ? m & 0xffffffffu : m >> 32;
    uint64_t carry = 0;
    for (int i = 0; i + half < 6; ++i) {
      carry += factor * words[i] + product[i + half];
      product[i + half] = (uint32_t)(carry);
      carry >>= 32;
    }
  }
  int quadrant = (int)(product[5] >> 30);
  uint64_t high = 0;
  uint64_t low = 0; /* 128 bits of the fraction */
  high = (uint64_t)(product[5]) << 34 | (uint64_t)(product[4]) << 2 | product[3] >> 30;
  low = (uint64_t)(product[3]) << 34 | (uint64_t)(product[2]) << 2 | product[1] >> 30;
  double sign = 1.0;
  if (high >> 63 != 0u) { /* nearer to the next quadrant */
    ++quadrant;
    sign = -1.0;
    high = ~high;
    low = ~low;
  }
  const double fraction = ldexp((double)(high), -64) + ldexp((double)(low), -128);
  *out_r = copysign(1.0, x) * sign * fraction * (PETREL_PI / 2.0);
  return (x < 0.0 ? -quadrant : quadrant) & 3;
}

/* x = q pi/2 + r; returns q mod 4. pi/2 in three parts of 33, 33 and 53 bits,
 * so that q times the first two is exact for |q| < 2^20. */
static int petrel_reduce_quadrant(double x, double *out_r) {
  if (fabs(x) > 1.6e6) {
    return petrel_reduce_large(x, out_r);
  }
  const double part1 = 0x1.921fb54400000p+0;
  const double part2 = 0x1.0b4611a600000p-34;
  const double part3 = 0x1.3198a2e037073p-69;
  const double q = floor(x / (PETREL_PI / 2.0) + 0.5);
  *out_r = ((x - q * part1) - q * part2) - q * part3;
  return (int)((int64_t)(q)&3);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_QUADRANT_H_ */
