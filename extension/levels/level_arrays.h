// SPDX-License-Identifier: Apache-2.0
//
// Arrays of numbers as levels and back, for whoever has floats for a method that takes
// integers.
//
//   if (levels && array.type == ScalarType::Float) array = in_levels(array, *levels);
#ifndef PETREL_EXTENSION_LEVELS_LEVEL_ARRAYS_H_
#define PETREL_EXTENSION_LEVELS_LEVEL_ARRAYS_H_

#include "extension/levels/levels.h"
#include "extension/npy/npy.h"

namespace petrel::extension {

// Precondition: `numbers` are f32.
NpyArray in_levels(const NpyArray& numbers, const Levels& levels);

// As f32. Precondition: `array` has the type of the levels.
NpyArray in_numbers(const NpyArray& array, const Levels& levels);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_LEVELS_LEVEL_ARRAYS_H_
