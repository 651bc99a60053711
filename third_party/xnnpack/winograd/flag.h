/* SPDX-License-Identifier: Apache-2.0
 *
 * Of xnn_define_convolution_2d() and xnn_create_convolution2d_nhwc_f32(): compute by Winograd's
 * algorithm where that is possible. No flag of XNNPACK.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_FLAG_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_FLAG_H_

#define XNN_FLAG_WINOGRAD 0x40000000u
/* And transform the filter in each run, which takes no more memory for weights than direct
 * convolution. Only with XNN_FLAG_WINOGRAD. */
#define XNN_FLAG_WINOGRAD_EACH_RUN 0x02000000u

/* Of tiles of 4 x 4 outputs in place of 2 x 2. Only with XNN_FLAG_WINOGRAD. */
#define XNN_FLAG_WINOGRAD_LARGE 0x01000000u

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_FLAG_H_ */
