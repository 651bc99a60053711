// SPDX-License-Identifier: Apache-2.0
//
// A tensor known at compile time (parameter, buffer, lifted literal), or the
// initial state of a buffer that the program mutates.
//
// `data` holds the elements of `type` densely in `type.dim_order`, exactly
// type.nbytes() bytes; it is usually a slice of the mapped `.pt2`. Constants
// are shared between the methods of a Program by pointer; passes that compute a
// new one make a new object and never write into an old one.
#ifndef PETREL_EXIR_IR_CONSTANT_H_
#define PETREL_EXIR_IR_CONSTANT_H_

#include <memory>
#include <string>
#include <vector>

#include "exir/ir/blob.h"
#include "exir/ir/type.h"

namespace petrel::exir {

struct Constant {
  enum class Kind : uint8_t {
    kParameter,      // nn.Parameter
    kBuffer,         // registered buffer that is only read
    kLiteral,        // tensor literal of the traced code, or a folded value
    kMutableBuffer,  // state: `data` is its initial value
  };

  std::string fqn;  // "features.0.0.weight"; unique within a Program
  Kind kind = Kind::kParameter;
  TensorType type;
  Blob data;
  // Names of the constants of the archive that it was computed from; none for those of the
  // archive themselves.
  std::vector<std::string> made_of;

  bool is_mutable() const { return kind == Kind::kMutableBuffer; }
  // Its own name, or what it was computed from.
  std::vector<std::string> sources() const {
    return made_of.empty() ? std::vector<std::string>{fqn} : made_of;
  }
};

using ConstantPtr = std::shared_ptr<const Constant>;

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_CONSTANT_H_
