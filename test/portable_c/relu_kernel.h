/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_TEST_PORTABLE_C_RELU_KERNEL_H_
#define PETREL_TEST_PORTABLE_C_RELU_KERNEL_H_

/* How often my_relu() was called. */
extern int relu_calls;

#endif /* PETREL_TEST_PORTABLE_C_RELU_KERNEL_H_ */
