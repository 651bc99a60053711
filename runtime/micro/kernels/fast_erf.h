/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_FAST_ERF_H_
#define PETREL_RUNTIME_MICRO_KERNELS_FAST_ERF_H_

/* erf(a) / a by powers of t = 2 (a / 3.9)^2 - 1: of least squares at Chebyshev's nodes. */
static inline float petrel_fast_erf_share(float t) {
  const float high =
      (((((t * 0.00194829132f - 0.00421919301f) * t + 0.00181648647f) * t - 0.00295000221f) * t +
        0.0137005467f) *
           t -
       0.0227585491f) *
          t +
      0.0290557351f;
  return (((((((high * t - 0.0414545611f) * t + 0.0579325855f) * t - 0.0740841925f) * t +
             0.0906657502f) *
                t -
            0.109506115f) *
               t +
           0.134691328f) *
              t -
          0.181011796f) *
             t +
         0.362583965f;
}

/* erf(x) to 4 parts in 10^7 of 1, and of itself near 0; without branches and divisions. */
static inline float petrel_fast_erf(float x) {
  const float below = x > 3.9f ? 3.9f : x;
  const float a = below < -3.9f ? -3.9f : below; /* NaN stays NaN */
  return a * petrel_fast_erf_share(a * a * 0.131492439f - 1.0f);
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_FAST_ERF_H_ */
