// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/linked_data_map.h"

#include <limits>

#include "runtime/core/data_loader.h"
#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::Span;

Result<LinkedDataMap> LinkedDataMap::create(Span<const LinkedData> rows) {
  if (rows.size() > std::numeric_limits<uint32_t>::max()) return Error::NotSupported;
  for (size_t i = 0; i < rows.size(); ++i) {
    const LinkedData& row = rows[i];
    const char* wrong = nullptr;
    if (row.key == nullptr || row.key[0] == '\0') {
      wrong = "has no key";
    } else if (i > 0 && std::string_view(rows[i - 1].key) >= row.key) {
      wrong = "has a key that is not above the one before it";
    } else if (row.size > 0 && row.data == nullptr) {
      wrong = "has no data";
    } else if (reinterpret_cast<uintptr_t>(row.data) % runtime::kDataAlignment != 0) {
      wrong = "has data that is not aligned to 16 bytes";
    }
    if (wrong == nullptr) continue;
    PETREL_LOG(Error, "row %zu of linked data, \"%.200s\", %s", i,
               row.key == nullptr ? "" : row.key, wrong);
    return Error::InvalidArgument;
  }
  return LinkedDataMap(rows);
}

Result<FreeableBuffer> LinkedDataMap::get_data(std::string_view key) const {
  size_t begin = 0;
  size_t end = rows_.size();
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    const int order = std::string_view(rows_[middle].key).compare(key);
    if (order == 0) return FreeableBuffer(rows_[middle].data, rows_[middle].size, nullptr);
    if (order < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return Error::NotFound;
}

Result<uint32_t> LinkedDataMap::get_num_keys() const { return static_cast<uint32_t>(rows_.size()); }

Result<const char*> LinkedDataMap::get_key(uint32_t index) const {
  if (index >= rows_.size()) {
    PETREL_LOG(Error, "key %u of linked data that has %zu", index, rows_.size());
    return Error::InvalidArgument;
  }
  return rows_[index].key;
}

}  // namespace petrel::extension
