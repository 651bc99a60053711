// SPDX-License-Identifier: Apache-2.0
//
// SignedZero: keeps -0.0 in a table. FlatBuffers leaves out what equals the default of its field,
// which 0.0 is, and -0.0 equals it: who reads the table would get the other zero.
//
//   const SignedZero keep(builder, value);
//   return CreateDouble(builder, value);
//
// Where the value is no -0.0 nothing changes; else the tables that are made while it lives have
// all their numbers.
#ifndef PETREL_SCHEMA_SIGNED_ZERO_H_
#define PETREL_SCHEMA_SIGNED_ZERO_H_

#include <cmath>

#include "flatbuffers/flatbuffers.h"

namespace petrel::schema {

class SignedZero final {
 public:
  SignedZero(flatbuffers::FlatBufferBuilder& builder, double value)
      : builder_(value == 0 && std::signbit(value) ? &builder : nullptr) {
    if (builder_ != nullptr) builder_->ForceDefaults(true);
  }
  ~SignedZero() {
    if (builder_ != nullptr) builder_->ForceDefaults(false);
  }
  SignedZero(const SignedZero&) = delete;
  SignedZero& operator=(const SignedZero&) = delete;

 private:
  flatbuffers::FlatBufferBuilder* builder_;  // null where there is nothing to keep
};

}  // namespace petrel::schema

#endif  // PETREL_SCHEMA_SIGNED_ZERO_H_
