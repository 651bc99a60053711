// SPDX-License-Identifier: Apache-2.0
//
// The schemas of the file formats as data, for who goes through any file of them.

#ifndef PETREL_TEST_FUZZ_SCHEMAS_H_
#define PETREL_TEST_FUZZ_SCHEMAS_H_

#include "flatbuffers/reflection_generated.h"

namespace petrel::fuzz {

const reflection::Schema& program_schema();
const reflection::Schema& flat_data_schema();
const reflection::Schema& xnnpack_schema();
// Of petrel.program, which lies in a segment of a program.
const reflection::Schema& additions_schema();

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_SCHEMAS_H_
