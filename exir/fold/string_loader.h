// SPDX-License-Identifier: Apache-2.0
//
// A program in memory as the runtime reads it. The bytes must outlive all that
// was loaded from them.
#ifndef PETREL_EXIR_FOLD_STRING_LOADER_H_
#define PETREL_EXIR_FOLD_STRING_LOADER_H_

#include <cstddef>
#include <string>

#include "runtime/core/data_loader.h"

namespace petrel::exir {

class StringLoader final : public runtime::DataLoader {
 public:
  explicit StringLoader(const std::string& bytes) : bytes_(bytes) {}

  // A copy where the range is not aligned.
  runtime::Result<runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                const SegmentInfo& info) const override;
  runtime::Error load_into(size_t offset, size_t size, const SegmentInfo& info,
                           void* buffer) const override;
  runtime::Result<size_t> size() const override { return bytes_.size(); }

 private:
  bool is_inside(size_t offset, size_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  const std::string& bytes_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_FOLD_STRING_LOADER_H_
