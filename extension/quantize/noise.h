// SPDX-License-Identifier: Apache-2.0
//
// What numbers are off by, relative to what they should be: sums over as many elements
// and samples as are added.
//
//   Noise noise;
//   noise.add(made, should);
//   noise.decibels();  // infinite where nothing differs
#ifndef PETREL_EXTENSION_QUANTIZE_NOISE_H_
#define PETREL_EXTENSION_QUANTIZE_NOISE_H_

#include <algorithm>
#include <cmath>
#include <limits>

namespace petrel::extension {

class Noise {
 public:
  void add(float made, float should) {
    const double wanted = static_cast<double>(should);
    const double off = static_cast<double>(made) - wanted;
    signal_ += wanted * wanted;
    noise_ += off * off;
    largest_ = std::max(largest_, std::fabs(off));
  }

  // As often as `weight` says; the largest difference is that of elements.
  void add(const Noise& other, double weight) {
    signal_ += weight * other.signal_;
    noise_ += weight * other.noise_;
    largest_ = std::max(largest_, other.largest_);
  }

  // Power of the noise over that of the signal; NaN where an element is.
  double share() const {
    if (noise_ == 0) return 0;
    return signal_ == 0 ? std::numeric_limits<double>::infinity() : noise_ / signal_;
  }
  double decibels() const { return -10 * std::log10(share()); }
  double largest() const { return largest_; }  // difference of one element

 private:
  double signal_ = 0;
  double noise_ = 0;
  double largest_ = 0;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_NOISE_H_
