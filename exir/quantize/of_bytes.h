// SPDX-License-Identifier: Apache-2.0
//
// What is computed of one tensor of 8 bits alone, element by element: the pixels of a camera,
// made numbers and normalised before the first product.
//
//   %f = aten._to_copy.default(%x : u8[1,3,8,8], f32)      kLevels: bytes are levels of scale 1
//   %d = aten.div.Scalar(%f, 255)                          kAlike
//   %s = aten.sub.Tensor(%d, constant @mean : f32[3,1,1])  kByChannel
//   %y = aten.convolution.default(%s, ...)                 none: here a scale begins
//
// Integers alone make all that is in front of a scale one table of 256 entries, or one for each
// channel; no number between has a scale of its own, so nothing is rounded twice.
#ifndef PETREL_EXIR_QUANTIZE_OF_BYTES_H_
#define PETREL_EXIR_QUANTIZE_OF_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "exir/ir/graph.h"

namespace petrel::exir {

enum class OfBytes : uint8_t { kNone, kLevels, kAlike, kByChannel };

class BytesInGraph {
 public:
  explicit BytesInGraph(const Graph& graph);

  OfBytes kind_of(const Value& value) const;

 private:
  struct Known {
    OfBytes kind = OfBytes::kNone;
    const Value* source = nullptr;  // the levels, as they lie before the value
  };

  void look_at(const Node& node);
  Known computed(const Node& node) const;

  std::unordered_map<const Value*, Known> known_;
};

// Whether bytes at run time stand for themselves: u8 or i8, and no constant.
bool is_of_bytes(const Value& value);
// A cast of such to f32.
bool takes_bytes_as_numbers(const Node& node);
// One function of each element, whatever its place.
bool computes_alike(const Node& node);
// Elements of one tensor at other places, none of them new.
bool only_moves(const Node& node);

// The only dim of a constant that has more than one element.
struct Channels {
  size_t from_last = 0;
  int64_t count = 1;
};
// nullopt where those are several, or more than there may be tables for.
std::optional<Channels> channels_of(const TensorType& type);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_OF_BYTES_H_
