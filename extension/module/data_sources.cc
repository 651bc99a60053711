// SPDX-License-Identifier: Apache-2.0
#include "extension/module/data_sources.h"

#include <cstring>
#include <utility>

#include "extension/data_loader/file_data_loader.h"
#include "extension/data_loader/mmap_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "extension/module/related_weights.h"
#include "extension/named_data_map/checked_data_map.h"
#include "runtime/core/log.h"
#include "runtime/platform/fast_sha256.h"
#include "schema/formats.h"

namespace petrel::extension {

using runtime::DataLoader;
using runtime::Error;
using runtime::NamedDataMap;
using runtime::Program;
using runtime::Result;
using runtime::Span;

namespace {

template <typename Loader>
Result<std::unique_ptr<DataLoader>> open_as(const std::string& path) {
  Result<Loader> loader = Loader::from(path.c_str());
  if (!loader.ok()) return loader.error();
  return std::unique_ptr<DataLoader>(std::make_unique<Loader>(std::move(loader.get())));
}

// Whether a data file is not a `.ptd`, which begins with an offset and FT01. One
// shorter than that is the `.ptd` reader's to refuse.
Result<bool> is_other_data(DataLoader* loader) {
  PETREL_ASSIGN_OR_RETURN(const size_t size, loader->size());
  constexpr size_t kHeadBytes = 8;
  if (size < kHeadBytes) return false;
  const DataLoader::SegmentInfo info(DataLoader::SegmentInfo::Type::Program);
  PETREL_ASSIGN_OR_RETURN(const runtime::FreeableBuffer bytes, loader->load(0, kHeadBytes, info));
  return std::memcmp(static_cast<const char*>(bytes.data()) + schema::kIdentifierOffset,
                     schema::kDataFileIdentifier, schema::kMagicBytes) != 0;
}

Result<std::unique_ptr<NamedDataMap>> load_map(DataLoader* loader,
                                               DataSources::DataReader other_data) {
  PETREL_ASSIGN_OR_RETURN(const bool is_other, is_other_data(loader));
  if (is_other && other_data != nullptr) return other_data(loader);
  if (is_other) {
    PETREL_LOG(Error,
               "data file has no FT01 at byte 4, so it is no .ptd; Module::Options::other_data "
               "can name a reader of other files, such as read_safetensors");
    return Error::InvalidExternalData;
  }
  Result<FlatDataMap> map = FlatDataMap::load(loader);
  if (!map.ok()) return map.error();
  return std::unique_ptr<NamedDataMap>(new FlatDataMap(std::move(map.get())));
}

}  // namespace

Result<std::unique_ptr<DataLoader>> open_file(const std::string& path, DataSources::LoadMode mode) {
  return mode == DataSources::LoadMode::Mmap ? open_as<MmapDataLoader>(path)
                                             : open_as<FileDataLoader>(path);
}

Result<std::unique_ptr<LoadedData>> LoadedData::load(const DataSources& sources,
                                                     const Program& program) {
  auto data = std::make_unique<LoadedData>();
  PETREL_RETURN_IF_ERROR(data->open(sources));
  data->hold(program);
  return data;
}

Error LoadedData::open(const DataSources& sources) {
  MergeOptions merge;
  merge.order = sources.data_order;
  first_counts_ = sources.data_order == MergeOrder::FirstCounts;
  const auto add_data = [&](std::shared_ptr<DataLoader> loader, const std::string& name) {
    Result<std::unique_ptr<NamedDataMap>> map = load_map(loader.get(), sources.other_data);
    if (!map.ok()) {
      PETREL_LOG(Error, "%s cannot be used as external data", name.c_str());
      return map.error();
    }
    loaders_.push_back(std::move(loader));
    maps_.push_back(std::move(map.get()));
    sources_.push_back(maps_.back().get());
    merge.names.push_back(name);
    return Error::Ok;
  };
  for (const std::string& path : sources.data_files) {
    PETREL_ASSIGN_OR_RETURN(std::unique_ptr<DataLoader> loader, open_file(path, sources.load_mode));
    PETREL_RETURN_IF_ERROR(add_data(std::move(loader), path));
  }
  for (size_t i = 0; i < sources.data_loaders.size(); ++i) {
    PETREL_RETURN_IF_ERROR(add_data(sources.data_loaders[i], "data loader " + std::to_string(i)));
  }
  const auto add_map = [&](const NamedDataMap* map, const std::string& name) {
    if (map == nullptr) return;
    maps_.push_back(std::make_unique<CheckedDataMap>(*map));
    sources_.push_back(maps_.back().get());
    merge.names.push_back(name);
  };
  given_ = sources.data_maps;
  for (size_t i = 0; i < given_.size(); ++i) {
    add_map(given_[i].get(), "data map " + std::to_string(i));
  }
  add_map(sources.named_data_map, "the data map of the app");
  if (sources_.size() > 1) {
    Result<MergedDataMap> merged = MergedDataMap::create(
        Span<const NamedDataMap* const>(sources_.data(), sources_.size()), merge);
    if (!merged.ok()) return merged.error();
    maps_.push_back(std::make_unique<MergedDataMap>(std::move(merged.get())));
    map_ = maps_.back().get();
  } else if (!sources_.empty()) {
    map_ = sources_.front();
  }
  return Error::Ok;
}

Error LoadedData::check_related(const Program& program) const {
  const bool external_first =
      program.options().data_precedence == runtime::DataPrecedence::ExternalFirst;
  if (!external_first && !first_counts_) return Error::Ok;
  std::vector<const NamedDataMap*> maps = sources_;
  if (external_first) maps.push_back(&program.named_data());
  return check_sources(program.additions(), {maps.data(), maps.size()});
}

void LoadedData::hold(const Program& program) {
  const size_t count = program.additions().num_weights();
  if (map_ == nullptr || count == 0) return;
  checked_ = std::vector<std::atomic<bool>>(count);
  held_.emplace(*map_, program.additions(), Span<std::atomic<bool>>(checked_.data(), count),
                &runtime::fast_sha256);
  map_ = &*held_;
}

}  // namespace petrel::extension
