/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of images as image.h copies them: channels of a pixel beside each other.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_IMAGE_ROWS_H_
#define PETREL_THIRD_PARTY_XNNPACK_IMAGE_ROWS_H_

#include "third_party/xnnpack/image/image.h"

/* `pixels` of a row of one image, from the first. */
void image_copy_row(const struct image_layer* layer, char* to, const char* image, size_t row,
                    size_t pixels);

#endif /* PETREL_THIRD_PARTY_XNNPACK_IMAGE_ROWS_H_ */
