/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ERF_H_
#define PETREL_RUNTIME_MICRO_MATH_ERF_H_

#include <math.h>

#include "runtime/micro/math/exp.h"

/* erf(a) / a by powers of z = a^2, a <= 1: of least squares at Chebyshev's nodes, to 8e-18. */
static inline double petrel_erf_near(double z) {
  const double high =
      ((((z * -7.77682913736281e-10 + 1.3709519207384055e-08) * z - 1.6205964194101388e-07) * z +
        1.6447084274239356e-06) *
           z -
       1.4924708324571507e-05) *
          z +
      0.00012055293361789941;
  return (((((high * z - 0.0008548325921832884) * z + 0.005223977605955977) * z -
            0.026866170643090832) *
               z +
           0.1128379167094405) *
              z -
          0.37612638903183515) *
             z +
         1.1283791670955126;
}

/* erfc(a) e^(a^2) by powers of u = (a - 3) / (a + 3), 1 <= a <= 6: as above, where the error is
 * that of erf(a), 9e-18. */
static inline double petrel_erfc_far(double u) {
  const double high =
      ((((u * 1.5511645052270795e-05 + 0.00010392078743531107) * u + 7.772770497361358e-05) * u -
        0.0005800377530237352) *
           u +
       0.0007137026347918143) *
          u +
      0.004270526734382119;
  return (((((high * u - 0.024392290684291842) * u + 0.07166585519574946) * u -
            0.15011593594667882) *
               u +
           0.2456038016776042) *
              u -
          0.3262335600460394) *
             u +
         0.17900115118134052;
}

/* The error function. */
static inline double petrel_erf(double x) {
  const double size = fabs(x);
  const double a = size > 6.0 ? 6.0 : size; /* NaN stays NaN */
  const double z = a * a;
  const double small = a * petrel_erf_near(z);
  const double large = 1.0 - petrel_exp(-z) * petrel_erfc_far((a - 3.0) / (a + 3.0));
  return copysign(a < 1.0 ? small : large, x);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_ERF_H_ */
