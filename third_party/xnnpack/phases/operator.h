/* SPDX-License-Identifier: Apache-2.0
 *
 * Transposed convolutions by phases as the way in which XNNPACK's operator computes those of floats
 * with strides: called by its functions of the same names (phases.patch). Filters are packed as for
 * XNNPACK's own way, which computes other types.
 *
 * Pointers belong to the operator and are made anew for other sizes; an error leaves the operator
 * without sizes.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_PHASES_OPERATOR_H_
#define PETREL_THIRD_PARTY_XNNPACK_PHASES_OPERATOR_H_

#include <stdbool.h>
#include <stddef.h>

#include "xnnpack.h"
#include "xnnpack/operator.h"

bool phases_are_possible(xnn_operator_t op);

/* Precondition: phases are possible, and sizes and the subtype of the kernel are set. */
enum xnn_status phases_reshape(xnn_operator_t op, size_t threads);
enum xnn_status phases_setup(xnn_operator_t op, const void* input, void* output);

#endif /* PETREL_THIRD_PARTY_XNNPACK_PHASES_OPERATOR_H_ */
