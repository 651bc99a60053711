/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands for the names in capitals where a kernel is compiled as it is, for
 * tests and editors: floats in and out, and small sizes. In a generated file each
 * of them is replaced by what it is for a node.
 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_TOKENS_H_
#define PETREL_RUNTIME_MICRO_KERNELS_TOKENS_H_

#ifndef ARITHMETIC
#define ARITHMETIC double
#endif
#ifndef IN_TYPE
#define IN_TYPE float
#define LOAD_IN (double)
#endif
#ifndef OTHER_TYPE
#define OTHER_TYPE float
#define LOAD_OTHER (double)
#endif
#ifndef SUM_TYPE
#define SUM_TYPE double
#define LOAD_SUM (double)
#define IN_IS_SUM 0
#define SUM_VECTOR petrel_lanes
#define LANES PETREL_LANES
#define LOAD_LANES petrel_widen_floats
#define ADD_PRODUCT petrel_add_exact_product
#define ADD_PRODUCTS petrel_add_exact_products
#endif
#ifndef OUT_TYPE
#define OUT_TYPE float
#define STORE_OUT (float)
#endif

#endif /* PETREL_RUNTIME_MICRO_KERNELS_TOKENS_H_ */
