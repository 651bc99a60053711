// SPDX-License-Identifier: Apache-2.0
//
// DataSources: where the data of a program comes from: files, loaders, a map of the
// app. LoadedData opens them as one map, held to what the program remembers of its
// weights, and owns all that was opened.
//
//   DataSources sources;
//   sources.data_files = {"model.ptd"};
//   Result<std::unique_ptr<LoadedData>> data = LoadedData::load(sources, program);
//   use((*data)->map());
#ifndef PETREL_EXTENSION_MODULE_DATA_SOURCES_H_
#define PETREL_EXTENSION_MODULE_DATA_SOURCES_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "extension/named_data_map/merged_data_map.h"
#include "runtime/core/data_loader.h"
#include "runtime/executor/held_data_map.h"
#include "runtime/executor/program.h"

namespace petrel::extension {

struct DataSources {
  enum class LoadMode {
    File,  // read what is needed into memory: for files that others may truncate
    Mmap,  // map the file: weights are shared with the page cache
  };

  // A map over a file of data that outlives it. The error's reason is logged.
  using DataReader =
      runtime::Result<std::unique_ptr<runtime::NamedDataMap>> (*)(runtime::DataLoader* loader);

  // External data files of the program, `.ptd`. They may share keys with equal
  // bytes.
  std::vector<std::string> data_files;
  // More such data, wherever the bytes come from.
  std::vector<std::shared_ptr<runtime::DataLoader>> data_loaders;
  // Reads those that are no `.ptd`, such as read_safetensors of
  // extension/named_data_map/safetensors_map.h; null refuses them. An app that
  // does not name a reader does not carry it.
  DataReader other_data = nullptr;
  // More external data, which is held to what a NamedDataMap promises; null is none.
  std::vector<std::shared_ptr<const runtime::NamedDataMap>> data_maps;
  // The same, of an app that keeps the map for as long as anybody loads from it.
  const runtime::NamedDataMap* named_data_map = nullptr;
  // Which of these counts where bytes differ, in the order of the lists above.
  MergeOrder data_order = MergeOrder::RefuseDifferent;
  LoadMode load_mode = LoadMode::Mmap;
};

runtime::Result<std::unique_ptr<runtime::DataLoader>> open_file(const std::string& path,
                                                                DataSources::LoadMode mode);

class LoadedData final {
 public:
  // The program must outlive the result. Errors name the source.
  static runtime::Result<std::unique_ptr<LoadedData>> load(const DataSources& sources,
                                                           const runtime::Program& program);

  // Whether all layouts that are known are the program's.
  runtime::Error check_layouts() const {
    return held_.has_value() ? held_->check_layouts() : runtime::Error::Ok;
  }

  // Whether weights come with those that they were computed from, where one of several
  // values for a key counts.
  runtime::Error check_related(const runtime::Program& program) const;

  // Of all sources; null if there are none. Never moves.
  const runtime::NamedDataMap* map() const { return map_; }

 private:
  runtime::Error open(const DataSources& sources);
  void hold(const runtime::Program& program);

  // Destroyed last to first: maps before what they read.
  std::vector<std::shared_ptr<runtime::DataLoader>> loaders_;
  std::vector<std::shared_ptr<const runtime::NamedDataMap>> given_;
  std::vector<std::unique_ptr<runtime::NamedDataMap>> maps_;
  std::vector<const runtime::NamedDataMap*> sources_;  // in the order in which they count
  bool first_counts_ = false;
  const runtime::NamedDataMap* map_ = nullptr;
  std::vector<std::atomic<bool>> checked_;
  std::optional<runtime::HeldDataMap> held_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_DATA_SOURCES_H_
