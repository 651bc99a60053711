// SPDX-License-Identifier: Apache-2.0
//
// MethodDataMap: what the backends of a method see, the data map of the caller
// and the named data of the program as one map. DataPrecedence says which of the
// two is asked first, and whether its answer is enough:
//
//                     key in both, equal bytes     key in both, other bytes
//   RefuseDifferent   the caller's                 an error that names the key
//   ExternalFirst     the caller's                 the caller's
//   ProgramFirst      the program's                the program's
//
// The layout of a key comes from the map that its bytes come from. Bytes are
// compared when the key is asked for.
//
// get_num_keys and get_key list the keys of the caller's map, then those of the
// program; a key of both is listed twice.
#ifndef PETREL_RUNTIME_EXECUTOR_METHOD_DATA_MAP_H_
#define PETREL_RUNTIME_EXECUTOR_METHOD_DATA_MAP_H_

#include "runtime/core/named_data_map.h"

namespace petrel::runtime {

// Which bytes count when a key is both in the program and in the map given to
// load_method, and the bytes differ. Under ExternalFirst the map also takes the
// place of constants that kernels read, where the program says their names.
enum class DataPrecedence {
  RefuseDifferent,  // InvalidExternalData, naming the key
  ExternalFirst,
  ProgramFirst,
};

class MethodDataMap final : public NamedDataMap {
 public:
  // Both maps must outlive this one.
  MethodDataMap(const NamedDataMap& external, const NamedDataMap& program,
                DataPrecedence precedence)
      : external_(external),
        program_(program),
        first_(precedence == DataPrecedence::ProgramFirst ? program : external),
        second_(precedence == DataPrecedence::ProgramFirst ? external : program),
        precedence_(precedence) {}

  Result<FreeableBuffer> get_data(std::string_view key) const override;
  Result<uint32_t> get_num_keys() const override;
  Result<const char*> get_key(uint32_t index) const override;
  Result<const TensorLayout> get_tensor_layout(std::string_view key) const override;
  Result<BytePlace> find_place(std::string_view key, size_t size) const override;
  Result<bool> is_in_place(std::string_view key) const override;

 private:
  const NamedDataMap& external_;
  const NamedDataMap& program_;
  // The same, in the order in which they are asked.
  const NamedDataMap& first_;
  const NamedDataMap& second_;
  DataPrecedence precedence_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_METHOD_DATA_MAP_H_
