/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/image/rows.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

/* Three planes of floats, four pixels at a time; returns how many. */
static size_t join_floats(float* to, const float* from, size_t plane, size_t pixels) {
  size_t i = 0;
  for (; i + 4 <= pixels; i += 4) {
    const __m128 r = _mm_loadu_ps(from + i);
    const __m128 g = _mm_loadu_ps(from + plane + i);
    const __m128 b = _mm_loadu_ps(from + 2 * plane + i);
    const __m128 low = _mm_unpacklo_ps(r, g);
    const __m128 high = _mm_unpackhi_ps(r, g);
    const __m128 b0r1 = _mm_shuffle_ps(b, r, _MM_SHUFFLE(1, 1, 0, 0));
    const __m128 g1b1 = _mm_shuffle_ps(g, b, _MM_SHUFFLE(1, 1, 1, 1));
    const __m128 b2r3 = _mm_shuffle_ps(b, r, _MM_SHUFFLE(3, 3, 2, 2));
    const __m128 g3b3 = _mm_shuffle_ps(g, b, _MM_SHUFFLE(3, 3, 3, 3));
    _mm_storeu_ps(to + 3 * i, _mm_shuffle_ps(low, b0r1, _MM_SHUFFLE(2, 0, 1, 0)));
    _mm_storeu_ps(to + 3 * i + 4, _mm_shuffle_ps(g1b1, high, _MM_SHUFFLE(1, 0, 2, 0)));
    _mm_storeu_ps(to + 3 * i + 8, _mm_shuffle_ps(b2r3, g3b3, _MM_SHUFFLE(2, 0, 2, 0)));
  }
  return i;
}

/* Three planes of bytes, sixteen pixels at a time. Each four bytes that are stored are a pixel and
 * one that the next pixel is written over; the last ones stay inside of the row. */
static size_t join_bytes(char* to, const char* from, size_t plane, size_t pixels) {
  size_t i = 0;
  for (; i + 17 <= pixels; i += 16) {
    const __m128i r = _mm_loadu_si128((const __m128i*)(from + i));
    const __m128i g = _mm_loadu_si128((const __m128i*)(from + plane + i));
    const __m128i b = _mm_loadu_si128((const __m128i*)(from + 2 * plane + i));
    const __m128i rg_low = _mm_unpacklo_epi8(r, g), bb_low = _mm_unpacklo_epi8(b, b);
    const __m128i rg_high = _mm_unpackhi_epi8(r, g), bb_high = _mm_unpackhi_epi8(b, b);
    __m128i four[4] = {_mm_unpacklo_epi16(rg_low, bb_low), _mm_unpackhi_epi16(rg_low, bb_low),
                       _mm_unpacklo_epi16(rg_high, bb_high), _mm_unpackhi_epi16(rg_high, bb_high)};
    for (int q = 0; q < 4; ++q) {
      for (int k = 0; k < 4; ++k, to += 3) {
        const int pixel = _mm_cvtsi128_si32(four[q]);
        memcpy(to, &pixel, sizeof(pixel));
        four[q] = _mm_srli_si128(four[q], 4);
      }
    }
  }
  return i;
}

static size_t join_vectors(const struct image_layer* layer, char* to, const char* from,
                           size_t plane, size_t pixels) {
  if (layer->channels != 3) return 0;
  if (layer->element == sizeof(float)) {
    return join_floats((float*)to, (const float*)from, plane, pixels);
  }
  return join_bytes(to, from, plane, pixels);
}

#else

static size_t join_vectors(const struct image_layer* layer, char* to, const char* from,
                           size_t plane, size_t pixels) {
  (void)layer, (void)to, (void)from, (void)plane, (void)pixels;
  return 0;
}

#endif

/* Channel `c` of pixel `i` is `pixel_step` x i + `channel_step` x c elements from `from`. */
static void copy_pixels(const struct image_layer* layer, char* to, const char* from,
                        size_t pixel_step, size_t channel_step, size_t pixels) {
  const size_t channels = layer->channels;
  if (layer->element == 1) {
    for (size_t i = 0; i < pixels; ++i) {
      for (size_t c = 0; c < channels; ++c) {
        to[i * channels + c] = from[i * pixel_step + c * channel_step];
      }
    }
    return;
  }
  float* out = (float*)to;
  const float* in = (const float*)from;
  for (size_t i = 0; i < pixels; ++i) {
    for (size_t c = 0; c < channels; ++c) {
      out[i * channels + c] = in[i * pixel_step + c * channel_step];
    }
  }
}

void image_copy_row(const struct image_layer* layer, char* to, const char* image, size_t row,
                    size_t pixels) {
  const size_t first = row * layer->input_width;
  const bool is_planar = layer->is_planar && layer->channels > 1;
  const size_t stride = layer->is_planar ? 1 : layer->input_stride;
  const char* from = image + first * stride * layer->element;
  if (!is_planar && stride * layer->element == layer->pixel) {
    memcpy(to, from, pixels * layer->pixel);
    return;
  }
  if (!is_planar) {
    copy_pixels(layer, to, from, stride, 1, pixels);
    return;
  }
  const size_t plane = layer->input_height * layer->input_width;
  const size_t done = join_vectors(layer, to, from, plane, pixels);
  copy_pixels(layer, to + done * layer->pixel, from + done * layer->element, 1, plane,
              pixels - done);
}
