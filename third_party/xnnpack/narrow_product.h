// SPDX-License-Identifier: Apache-2.0

// One tile of a product with AVX-512: `rows` of at most 7 times a matrix of any
// number of columns, by XNNPACK's kernel, of whole tiles or of one row, and by
// the one that leaves out what is not there. Data is random with a fixed seed. For the test and the
// benchmark of narrow tiles only.
//
//   NarrowProduct p({/*rows=*/7, /*depth=*/96, /*columns=*/24, /*window=*/1});
//   p.run(Kernel::kNarrow);
//   p.output(Kernel::kNarrow);
#ifndef PETREL_THIRD_PARTY_XNNPACK_NARROW_PRODUCT_H_
#define PETREL_THIRD_PARTY_XNNPACK_NARROW_PRODUCT_H_

#include <cstddef>
#include <vector>

namespace petrel::third_party::xnnpack {

enum class Kernel { kWhole, kNarrow };

struct Tile {
  size_t rows;
  size_t depth;
  size_t columns;
  size_t window;  // elements of a convolution's window; 0 for a product
};

class NarrowProduct {
 public:
  // False when the machine lacks AVX-512: nothing may be run then.
  static bool is_possible();

  explicit NarrowProduct(const Tile& tile);
  NarrowProduct(const NarrowProduct&) = delete;
  NarrowProduct& operator=(const NarrowProduct&) = delete;

  void run(Kernel kernel);
  // Elements that must stay as they are have kUntouched.
  const std::vector<float>& output(Kernel kernel) const;
  // The same by the definition, in double.
  double expected(size_t row, size_t column) const;

  static constexpr float kUntouched = 12345;
  // Floats from one row of the output to the next, more than it has columns.
  size_t stride() const { return tile_.columns + 3; }

 private:
  const Tile tile_;
  std::vector<float> input_, storage_, zeros_, whole_, narrow_;
  const float* weights_ = nullptr;  // in storage_, aligned
  std::vector<const float*> pointers_;
};

}  // namespace petrel::third_party::xnnpack

#endif  // PETREL_THIRD_PARTY_XNNPACK_NARROW_PRODUCT_H_
