// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/data_input.h"

#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/backend/named_blob_store.h"
#include "exir/import/mapped_file.h"
#include "extension/relink/file_kind.h"
#include "extension/relink/mapped_file_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "extension/named_data_map/safetensors_map.h"
#include "schema/formats.h"

namespace petrel::extension {
namespace {

// A map of a file in memory, and what it refers to.
struct MappedData {
  explicit MappedData(std::shared_ptr<const exir::MappedFile> mapped)
      : file(std::move(mapped)), loader(file) {}

  std::shared_ptr<const exir::MappedFile> file;
  MappedFileLoader loader;
  std::unique_ptr<runtime::NamedDataMap> map;
};

template <typename Map>
absl::Status load(MappedData& data, const std::string& path) {
  runtime::Result<Map> map = Map::load(&data.loader);
  if (!map.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", runtime::to_string(map.error())));
  }
  data.map = std::make_unique<Map>(std::move(map.get()));
  return absl::OkStatus();
}

std::optional<exir::TensorType> layout_of(const runtime::NamedDataMap& map, const char* key) {
  const runtime::Result<const runtime::TensorLayout> layout = map.get_tensor_layout(key);
  if (!layout.ok()) return std::nullopt;
  exir::TensorType type;
  type.dtype = static_cast<exir::ScalarType>(layout->scalar_type());
  type.sizes.assign(layout->sizes().begin(), layout->sizes().end());
  type.dim_order.assign(layout->dim_order().begin(), layout->dim_order().end());
  return type;
}

// What the place of `data` in the file is a multiple of; for a copy of bytes that
// are not aligned there, what every copy is.
uint64_t alignment_of(const runtime::FreeableBuffer& data, absl::Span<const uint8_t> file) {
  const auto* begin = static_cast<const uint8_t*>(data.data());
  if (std::less<>()(begin, file.begin()) || !std::less<>()(begin, file.end())) {
    return runtime::kDataAlignment;
  }
  const auto offset = static_cast<uint64_t>(begin - file.begin());
  uint64_t alignment = 1;
  while (alignment < schema::kMaxAlignment && offset % (2 * alignment) == 0) {
    alignment *= 2;
  }
  return alignment;
}

}  // namespace

absl::StatusOr<std::vector<DataEntry>> read_data_file(const std::string& path) {
  const absl::StatusOr<FileKind> kind = file_kind(path);
  if (!kind.ok()) return kind.status();
  if (*kind != FileKind::kData && *kind != FileKind::kTensors) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is not a .ptd or .safetensors file"));
  }
  absl::StatusOr<std::shared_ptr<const exir::MappedFile>> file = exir::MappedFile::open_named(path);
  if (!file.ok()) return file.status();
  auto data = std::make_shared<MappedData>(*std::move(file));
  const absl::Status loaded =
      *kind == FileKind::kData ? load<FlatDataMap>(*data, path) : load<SafetensorsMap>(*data, path);
  if (!loaded.ok()) return loaded;
  std::vector<DataEntry> entries;
  const uint32_t count = data->map->get_num_keys().get();
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = data->map->get_key(i).get();
    runtime::Result<runtime::FreeableBuffer> bytes = data->map->get_data(key);
    if (!bytes.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": key '", key, "': ", runtime::to_string(bytes.error())));
    }
    DataEntry entry;
    entry.key = key;
    entry.layout = layout_of(*data->map, key);
    entry.alignment = alignment_of(*bytes, data->file->bytes());
    // The buffer may be a copy: it stays as long as the blob.
    auto held = std::make_shared<std::pair<std::shared_ptr<MappedData>, runtime::FreeableBuffer>>(
        data, std::move(bytes.get()));
    const absl::Span<const uint8_t> span(static_cast<const uint8_t*>(held->second.data()),
                                         held->second.size());
    entry.blob = exir::Blob::view(span, std::move(held));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace petrel::extension
