/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface, of which the module CPetrel is made. */
#include <petrel/petrel.h>
