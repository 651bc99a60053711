// SPDX-License-Identifier: Apache-2.0
//
// MergedDataMap: the data map of the caller and the named data of the program
// as one map, which is what backends see. A key that is in both is fine when
// the bytes are equal (programs exported apart may share weights); otherwise
// DataPrecedence decides. Bytes are compared when the key is asked for.
//
// get_num_keys and get_key list the keys of the caller's map, then those of the
// program; a key of both is listed twice.

#ifndef PETREL_RUNTIME_EXECUTOR_MERGED_DATA_MAP_H_
#define PETREL_RUNTIME_EXECUTOR_MERGED_DATA_MAP_H_

#include "runtime/core/named_data_map.h"
#include "runtime/executor/program.h"

namespace petrel::runtime {

class MergedDataMap final : public NamedDataMap {
 public:
  // Both maps must outlive this one.
  MergedDataMap(const NamedDataMap& external, const NamedDataMap& program,
                DataPrecedence precedence)
      : external_(external), program_(program), precedence_(precedence) {}

  Result<FreeableBuffer> get_data(std::string_view key) const override;
  Result<uint32_t> get_num_keys() const override;
  Result<const char*> get_key(uint32_t index) const override;
  Result<TensorLayout> get_tensor_layout(std::string_view key) const override;

 private:
  const NamedDataMap& external_;
  const NamedDataMap& program_;
  DataPrecedence precedence_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_MERGED_DATA_MAP_H_
