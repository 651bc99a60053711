// SPDX-License-Identifier: Apache-2.0
//
// Which planes of a volume each plane of a filter meets, where padding counts as none.
//
//   planes 0..3, a filter of 3, padding 1      taps_of():   plane 0 reads 0..2 for outputs 1..3
//                                                           plane 1 reads 0..3 for outputs 0..3
//                                                           plane 2 reads 1..3 for outputs 0..2
//
// Invariant: a tap has one plane or more, all of them within input and output.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_VOLUME_TAPS_H_
#define PETREL_BACKENDS_XNNPACK_AOT_VOLUME_TAPS_H_

#include <cstdint>
#include <vector>

namespace petrel::backends::xnnpack::aot {

// A convolution along depth; all are positive, padding may be 0.
struct Depth {
  int64_t in = 1;
  int64_t out = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
};

// `count` planes of the output from `out` on, made of planes of the input from `in` on, which lie
// a stride apart.
struct Tap {
  int64_t plane = 0;  // of the filter
  int64_t in = 0;
  int64_t out = 0;
  int64_t count = 0;
};

// In the order of the filter's planes. Those that meet padding alone are left out: some at its
// ends, all, or, where a stride leaves planes of the input out, any.
std::vector<Tap> taps_of(const Depth& depth);

// Whether their planes of the filter follow each other. Precondition: there is one or more.
bool are_neighbours(const std::vector<Tap>& taps);

// The same of a transposed convolution, for planes `rest`, `rest` + stride and so on of the output,
// of which there are class_size() and which are counted as 0, 1 and so on. They take neighbours of
// the input. Precondition: rest < stride.
std::vector<Tap> transposed_taps_of(const Depth& depth, int64_t rest);
// The last ones may lie behind the output.
int64_t class_size(const Depth& depth);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_VOLUME_TAPS_H_
