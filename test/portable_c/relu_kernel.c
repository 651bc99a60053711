/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of the user for petrel_c_model(): relu of 2048 floats, which counts its calls. */
#include "relu_kernel.h"

#include "digits_kernel_kernels.h"

#ifndef RELU_LEAST
#error "kernel_copts do not reach this file"
#endif

int relu_calls;

void my_relu(const void *const *inputs, void *const *outputs) {
  const float *x = (const float *)inputs[0];
  float *y = (float *)outputs[0];
  for (int i = 0; i < 2048; ++i) {
    y[i] = x[i] > RELU_LEAST ? x[i] : RELU_LEAST;
  }
  ++relu_calls;
}
