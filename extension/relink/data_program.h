// SPDX-License-Identifier: Apache-2.0
//
// A `.pte` file taken apart so that data can be put into it and taken out, and
// put together again:
//
//   PETREL_ASSIGN_OR_RETURN(DataProgram program, DataProgram::read("m.pte", limits));
//   ... program.table() ... program.constants()[idx] ... program.named() ...
//   PETREL_ASSIGN_OR_RETURN(uint64_t bytes, program.write(sink));
//
//   table      the flatbuffer, unpacked; its segments are made anew by write()
//   constants  bytes by data_buffer_idx, of tensors that are constants
//   states     bytes by data_buffer_idx, of tensors with an initial value
//   payloads   bytes by method and delegate, where they are segments
//   named      key, bytes and alignment
//
// Constants have the names that the program says of them beside its tensors.
//
// Weights stay in the mapped file until they are written. read() verifies the
// whole file, always, and takes the table and what Petrel itself says of it from
// a copy that was made before.
#ifndef PETREL_EXTENSION_RELINK_DATA_PROGRAM_H_
#define PETREL_EXTENSION_RELINK_DATA_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/emit/file_layout.h"
#include "exir/import/mapped_file.h"
#include "exir/ir/blob.h"
#include "exir/ir/type.h"
#include "runtime/core/limits.h"
#include "schema/program_objects_generated.h"

namespace petrel::runtime {
class Program;
}

namespace petrel::extension {

class DataProgram {
 public:
  using Table = schema::program_objects::ProgramT;
  using Tensor = schema::program_objects::TensorT;

  struct Named {
    std::string key;
    exir::Blob blob;
    uint64_t alignment = 1;
  };

  // Errors name the file; the runtime's reasons are logged. `limits` are those of
  // loading it.
  static absl::StatusOr<DataProgram> read(const std::string& path, const runtime::Limits& limits);

  Table& table() { return *table_; }
  const Table& table() const { return *table_; }
  std::map<uint32_t, exir::Blob>& constants() { return constants_; }
  std::map<uint32_t, exir::Blob>& states() { return states_; }
  std::vector<Named>& named() { return named_; }
  const std::vector<Named>& named() const { return named_; }

  // Calls `visit` on every tensor of every method.
  void for_each_tensor(const std::function<void(Tensor&)>& visit);
  void for_each_tensor(
      const std::function<void(const std::string& method, const Tensor&)>& visit) const;
  // Calls `visit` on the payload of every delegate.
  void for_each_delegate(
      const std::function<void(const std::string& method, const std::string& backend,
                               absl::Span<const uint8_t> payload)>& visit) const;

  // Numbers for a further constant, a further initial value.
  uint32_t add_constant(const exir::Blob& blob);
  uint32_t add_state(const exir::Blob& blob);

  // The file. May be called once: numbers of constants are given anew.
  absl::StatusOr<uint64_t> write(const exir::ByteSink& sink);

  // "" for a tensor without a name.
  static std::string name_of(const Tensor& tensor);
  static bool is_external(const Tensor& tensor);
  static bool is_constant(const Tensor& tensor);
  static exir::TensorType type_of(const Tensor& tensor);

 private:
  absl::Status check_shared(const std::string& path, uint64_t file_bytes) const;
  absl::Status collect_tensors(const runtime::Program& program,
                               const std::shared_ptr<const exir::MappedFile>& file);
  void take_names();
  void put_names();

  std::unique_ptr<Table> table_;
  std::map<uint32_t, exir::Blob> constants_;
  std::map<uint32_t, exir::Blob> states_;
  std::map<std::pair<size_t, size_t>, exir::Blob> payloads_;
  std::vector<Named> named_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_RELINK_DATA_PROGRAM_H_
