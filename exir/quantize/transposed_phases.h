// SPDX-License-Identifier: Apache-2.0
//
// A transposed convolution of stride s is one of stride 1 that makes s channels of each, which
// lie side by side:
//
//   out[c, m * s + f] = sum over j of in[m - j] * w[c, j * s + f]      f in [0, s)
//
// So it has all that other convolutions have: a scale for each channel, groups, and sums of one
// operator.
#ifndef PETREL_EXIR_QUANTIZE_TRANSPOSED_PHASES_H_
#define PETREL_EXIR_QUANTIZE_TRANSPOSED_PHASES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/pass/framework/builder.h"

namespace petrel::exir {

// Of one dim.
struct PhasesOfDim {
  int64_t stride, padding, output_padding, dilation, kernel;
  int64_t in, out;

  // Elements before in[m] that out[m * s + f] takes.
  int64_t reach() const { return dilation * (kernel - 1) / stride; }
  // Places behind the input that the last outputs would take.
  int64_t missing() const;
  // The tap of phase f that takes in[m - j]; -1 for none.
  int64_t tap(int64_t f, int64_t j) const;
};

// Of aten.convolution, transposed; the sizes of its planes are known.
class TransposedPhases {
 public:
  explicit TransposedPhases(const Node& node);

  // Of each channel that the node makes.
  int64_t count() const { return rows().stride * columns().stride; }
  // The channel, of those that one group makes, that a channel of all phases belongs to.
  int64_t channel_in_group(int64_t channel) const { return channel / count() % each_; }

  // Of the convolution of stride 1, with its elements as `from`, those of the node's weight, has
  // them. Unimplemented where those are too many.
  absl::StatusOr<std::vector<double>> weight(const std::vector<double>& from) const;
  Sizes weight_sizes() const;
  // A number of each channel, for all its phases.
  std::vector<double> for_phases(const std::vector<double>& of_channels) const;

  // How often constant_pad_nd adds `0` to the input; empty for not at all.
  Ints pads() const;
  // The padding of the convolution.
  Ints padding() const;
  Ints ones() const { return Ints(phases_.size(), 1); }
  int64_t groups() const { return groups_; }

  // The phases of what it makes side by side, without what the node's padding takes away.
  BuiltValue interleaved(Builder& b, Value* y) const;

 private:
  const PhasesOfDim& columns() const { return phases_.back(); }
  const PhasesOfDim& rows() const;

  std::vector<PhasesOfDim> phases_;
  int64_t groups_ = 1;
  int64_t in_ = 0;    // channels that a group takes
  int64_t each_ = 0;  // and makes
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_TRANSPOSED_PHASES_H_
