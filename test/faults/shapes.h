// SPDX-License-Identifier: Apache-2.0
//
// Shapes of files that could make a reader take far more memory or time than they
// have bytes. Refused ones name one part again and again; accepted ones have as many
// parts as bytes allow.
//
//   for (const Shape& shape : shapes()) write(build_shape(shape, 20'000));
#ifndef PETREL_TEST_FAULTS_SHAPES_H_
#define PETREL_TEST_FAULTS_SHAPES_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

namespace petrel::faults {

struct Shape {
  const char* name;
  bool is_refused;
};

inline void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

std::vector<Shape> shapes();

// A program of about `units` * 100 bytes.
std::vector<uint8_t> build_shape(const Shape& shape, size_t units);

}  // namespace petrel::faults

#endif  // PETREL_TEST_FAULTS_SHAPES_H_
