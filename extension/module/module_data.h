// SPDX-License-Identifier: Apache-2.0
//
// ModuleData: the data map that all methods of a module are loaded with. It stays
// where it is while the data behind it is replaced key by key:
//
//   ModuleData data(LoadedData::load(options, program));
//   PETREL_ASSIGN_OR_RETURN(DataChange change, data.compare(adapter, "*lora*", program));
//   ReplacedSources replaced(&data);
//   PETREL_RETURN_IF_ERROR(replaced.replace(change));  // answers with it from now on
//   replaced.keep();                                   // or again as before, when it goes
//
//   base.ptd       fc.weight  fc.bias              adapter.ptd   lora.a  lora.b
//   keys           fc.weight  fc.bias  lora.a  lora.b       the last who gave a key has it
//
// Owns all data that still has a key. Thread-safe but for replace() and restore(); a
// source goes with the last Sources that has a key of it.
#ifndef PETREL_EXTENSION_MODULE_MODULE_DATA_H_
#define PETREL_EXTENSION_MODULE_MODULE_DATA_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extension/module/data_sources.h"
#include "runtime/core/named_data_map.h"
#include "runtime/executor/program.h"

namespace petrel::extension {

// What other data is, next to what a module has.
struct DataChange {
  std::shared_ptr<const LoadedData> data;
  // Keys of it that take the place of others or were missing, in ascending order.
  std::vector<std::string> keys;
  // How many keys of the data the pattern matches, those of equal bytes included.
  size_t num_matches = 0;
  // And how many the program is not known to need; a method that is not loaded may.
  size_t num_unknown = 0;
};

class ModuleData final : public runtime::NamedDataMap {
 public:
  struct Sources {
    std::shared_ptr<const LoadedData> base;
    // Who has the keys that were replaced.
    std::map<std::string, std::shared_ptr<const LoadedData>, std::less<>> replaced;
    std::vector<const char*> keys;  // of the base, then those that only others have
  };

  static runtime::Result<std::unique_ptr<ModuleData>> create(std::unique_ptr<LoadedData> base);

  // Which keys of `data` that `glob` matches would be other bytes. NotFound if it
  // matches none, or only such that no method of the program needs; InvalidExternalData
  // for a weight in the program that the data is not to replace. `is_complete` says
  // that all the program needs is known, because its methods are loaded.
  runtime::Result<DataChange> compare(std::shared_ptr<const LoadedData> data,
                                      const std::string& glob, const runtime::Program& program,
                                      bool is_complete) const;

  // Gives what answered before.
  runtime::Result<Sources> replace(const DataChange& change);
  void restore(Sources&& sources) noexcept { sources_ = std::move(sources); }

  // Who gives a key, and keeps its bytes; null if nobody can.
  std::shared_ptr<const LoadedData> source_of(std::string_view key) const;

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t index) const override;
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(
      std::string_view key) const override;
  runtime::Error load_data_into(std::string_view key, void* buffer, size_t size) const override;
  runtime::Result<runtime::BytePlace> find_place(std::string_view key, size_t size) const override;
  runtime::Result<bool> is_in_place(std::string_view key) const override;

 private:
  ModuleData() = default;
  const runtime::NamedDataMap* owner(std::string_view key) const;

  Sources sources_;
};

// Other sources of a module's data, which go again with this unless they are kept, whatever
// ends what is done with them. What answered before stays alive until then.
class ReplacedSources final {
 public:
  explicit ReplacedSources(ModuleData* data) : data_(*data) {}
  ReplacedSources(const ReplacedSources&) = delete;
  ReplacedSources& operator=(const ReplacedSources&) = delete;
  ~ReplacedSources() {
    if (before_.has_value()) data_.restore(std::move(*before_));
  }

  // Once.
  runtime::Error replace(const DataChange& change);
  // Frees what answered before.
  void keep() noexcept { before_.reset(); }

 private:
  ModuleData& data_;
  std::optional<ModuleData::Sources> before_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_MODULE_DATA_H_
