// SPDX-License-Identifier: Apache-2.0
//
// The tensors that an archive holds, by fully qualified name. Each is a view of
// a storage: one member of the archive, read at an offset with strides.
//
//   storage  [ 0 1 2 3 4 5 6 7 8 9 ]      sizes [2,3], strides [1,2], offset 2
//   tensor         2 . 4 . 6 .            -> 2 4 6
//                    3 . 5 . 7               3 5 7
//
// Dense contiguous views stay slices of the mapped file; others are copied each
// time their bytes are asked for. Views that are equal share one Blob, so tied
// weights are stored once. A storage is verified against its checksum the first
// time a tensor of it is loaded; tensors that the program does not use are
// never touched.
#ifndef PETREL_EXIR_IMPORT_PAYLOADS_H_
#define PETREL_EXIR_IMPORT_PAYLOADS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/import/archive.h"
#include "exir/ir/constant.h"

namespace petrel::exir {

class Payloads {
 public:
  enum class Section { kWeights, kConstants };

  // `archive` must outlive the object, but not what it loads.
  static absl::StatusOr<Payloads> open(const ProgramArchive& archive,
                                       const std::string& torch_version);

  // Where the elements of a tensor lie: bytes [begin, end) of a member.
  struct Extent {
    std::string member;
    int64_t begin = 0;
    int64_t end = 0;

    bool meets(const Extent& other) const {
      return member == other.member && begin < other.end && other.begin < end;
    }
  };

  // Errors name the tensor and the member it should be in.
  absl::StatusOr<std::shared_ptr<Constant>> load(Section section, const std::string& fqn,
                                                 Constant::Kind kind);
  // Precondition: it was loaded.
  const Extent& extent(const std::string& fqn) const { return extents_.at(fqn); }

 private:
  struct View {
    TensorType type;
    Sizes strides;
    int64_t offset = 0;
  };

  absl::Status read_config(Section section, const std::string& folder, const std::string& config);
  absl::StatusOr<absl::Span<const uint8_t>> storage(const std::string& member);
  absl::StatusOr<View> read_view(const Json& meta) const;
  // Complex numbers as a last dim of 2: the real and the imaginary part.
  static absl::StatusOr<View> as_pairs(View view);
  absl::StatusOr<Blob> slice(const std::string& member, View view);
  // Precondition: slice() took the view.
  static Extent extent_of(const std::string& member, const View& view);

  const ProgramArchive* archive_ = nullptr;
  std::string torch_version_;
  std::vector<JsonDocument> documents_;
  std::map<std::pair<Section, std::string>, Json> metas_;
  std::map<Section, std::string> folders_;
  std::map<std::string, absl::Span<const uint8_t>> storages_;
  std::map<std::string, Blob> blobs_;  // by member and view
  uint64_t viewed_bytes_ = 0;          // of all of them
  std::map<std::string, Extent> extents_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_PAYLOADS_H_
