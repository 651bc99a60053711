// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/schemas.h"

#include <cstring>
#include <vector>

#include "test/fuzz/schema/additions_bfbs_generated.h"
#include "test/fuzz/schema/flat_data_bfbs_generated.h"
#include "test/fuzz/schema/program_bfbs_generated.h"
#include "test/fuzz/schema/xnnpack_bfbs_generated.h"

namespace petrel::fuzz {
namespace {

// In memory that suits its numbers, which that of the generated arrays need not.
template <typename BinarySchema>
const reflection::Schema& schema() {
  static const auto* const words = [] {
    auto* copy = new std::vector<uint64_t>(BinarySchema::size() / sizeof(uint64_t) + 1);
    std::memcpy(copy->data(), BinarySchema::data(), BinarySchema::size());
    return copy;
  }();
  return *reflection::GetSchema(words->data());
}

}  // namespace

const reflection::Schema& program_schema() {
  return schema<schema::program::ProgramBinarySchema>();
}
const reflection::Schema& additions_schema() {
  return schema<schema::additions::AdditionsBinarySchema>();
}
const reflection::Schema& flat_data_schema() {
  return schema<schema::flat_data::FlatDataBinarySchema>();
}
const reflection::Schema& xnnpack_schema() { return schema<schema::xnnpack::GraphBinarySchema>(); }

}  // namespace petrel::fuzz
