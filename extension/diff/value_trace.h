// SPDX-License-Identifier: Apache-2.0
//
// What a method computed in one run: every value in the order in which it was made, and
// from which values. Values that a delegate keeps to itself are there, too.
//
//   0:3    aten::convolution.out   [1,16,8,8] f32   of 0
//   0:4/0  Conv2d                  [1,8,8,16] i8    of 1
//
// Numbers are those that the elements stand for: quantised ones dequantised, narrow ones
// widened. Owns all that it says.
#ifndef PETREL_EXTENSION_DIFF_VALUE_TRACE_H_
#define PETREL_EXTENSION_DIFF_VALUE_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "extension/npy/npy.h"

namespace petrel::extension {

// What integers stand for: (element - zero_point) * scale.
struct ElementScale {
  double scale = 1;
  double zero_point = 0;

  bool operator==(const ElementScale& other) const {
    return scale == other.scale && zero_point == other.zero_point;
  }
  bool operator!=(const ElementScale& other) const { return !(*this == other); }
};

struct TraceValue {
  std::string place;           // chain:instruction, and the node within a delegate behind a slash
  std::string op;              // as the file calls it; "input" for those of the method
  std::string family;          // operator_family.h
  std::vector<size_t> inputs;  // places in the trace, all before this one
  // A node that also cuts what it computed to a range, as a clamp behind it would.
  bool has_clamp = false;
  // Rounded to integers on its way here, by this operator or one before it.
  bool is_rounded = false;
  // Of half or bfloat16, or computed from what was.
  bool is_narrow = false;
  bool is_input = false;
  // A part of another value, which it lies in: no node made it.
  bool is_part = false;
  // False where a backend does not show it; then there are no elements.
  bool is_seen = true;
  NpyArray array;
  std::optional<ElementScale> scale;
  // The scale that a kernel which dequantises it was told, the same one in a sound program.
  std::optional<ElementScale> read_scale;

  // "[1,16,8,8] f32".
  std::string type_text() const;
};

// The elements of a value as numbers, one for each whatever their type, in the order of
// `array.shape`, the last dim innermost. They are read where they are, for as doubles those of a
// byte take eight times as much. The value must outlive it.
class Numbers {
 public:
  explicit Numbers(const TraceValue& value) : Numbers(value, value.scale) {}
  // As what another scale makes of them.
  Numbers(const TraceValue& value, std::optional<ElementScale> scale);

  size_t size() const { return size_; }
  double operator[](size_t i) const {
    const double number = read_(bytes_, i);
    return scale_ ? (number - scale_->zero_point) * scale_->scale : number;
  }

 private:
  const uint8_t* bytes_;
  size_t size_;
  std::optional<ElementScale> scale_;
  double (*read_)(const uint8_t* bytes, size_t i);
};

// What is kept of one run at most: a program may loop, a device says what it likes, and values are
// aligned pair by pair. Inputs are those of all values together, bytes their elements.
inline constexpr size_t kMaxTracedValues = 20'000;
inline constexpr size_t kMaxTracedInputs = 1'000'000;
inline constexpr uint64_t kMaxTracedBytes = uint64_t{1} << 32;

// What is left of that; whoever makes a trace takes it for each value before it is made.
class TraceRoom {
 public:
  // False when there is no room for it, and then for nothing that comes later.
  bool take(size_t inputs, uint64_t bytes);
  bool is_full() const { return is_full_; }
  // "computes more than can be compared, which is 20000 values ...".
  static std::string problem();

 private:
  size_t values_ = kMaxTracedValues;
  size_t inputs_ = kMaxTracedInputs;
  uint64_t bytes_ = kMaxTracedBytes;
  bool is_full_ = false;
};

// What is looked at to compare two runs, values and their inputs one by one: ten thousand values
// may each follow from as many others, over and over. Who gets no more leaves values unmatched or
// mistakes in their place.
class CompareSteps {
 public:
  bool take(uint64_t steps = 1) {
    if (steps > left_) left_ = 0;
    left_ -= steps > left_ ? 0 : steps;
    return left_ > 0;
  }

 private:
  uint64_t left_ = uint64_t{1} << 26;
};

struct ValueTrace {
  std::vector<TraceValue> values;
  std::vector<size_t> outputs;  // of the method, those that it computed
  // Delegates of which nothing but the outputs could be seen, and why.
  std::vector<std::string> closed;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_VALUE_TRACE_H_
