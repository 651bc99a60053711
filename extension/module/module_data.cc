// SPDX-License-Identifier: Apache-2.0
#include "extension/module/module_data.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "extension/module/related_weights.h"
#include "runtime/core/log.h"
#include "runtime/platform/glob.h"
#include "runtime/program/program_data_map.h"

namespace petrel::extension {

using runtime::BytePlace;
using runtime::DataPrecedence;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Program;
using runtime::Result;
using runtime::Span;
using runtime::TensorLayout;
using runtime::TensorView;

namespace {

Span<const uint8_t> bytes_of(const FreeableBuffer& data) {
  return {static_cast<const uint8_t*>(data.data()), data.size()};
}

bool same(Span<const uint8_t> a, Span<const uint8_t> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// What the program says of keys: its own data, and names that it looks up outside.
class ProgramKeys {
 public:
  explicit ProgramKeys(const Program& program) : program_(program), own_(program.named_data()) {
    if (!own_.is_sorted()) {
      order_.resize(own_.num_entries());
      own_.sort({order_.data(), order_.size()});
    }
    for (uint32_t m = 0; m < program.view().num_methods(); ++m) {
      const runtime::MethodView method = program.view().method(m);
      for (uint32_t i = 0; i < method.num_values(); ++i) {
        const std::optional<TensorView> tensor = method.value(i).as_tensor();
        if (!tensor.has_value()) continue;
        if (tensor->is_external) outside_.emplace(tensor->name, TensorView());
        if (!tensor->is_inner_constant()) continue;
        const std::string_view name =
            tensor->name.empty() ? program.additions().constant_name(m, i) : tensor->name;
        if (!name.empty()) inside_.emplace(name, *tensor);
      }
    }
  }

  bool needs_from_outside(std::string_view key) const {
    return outside_.count(key) > 0 ||
           program_.additions().find_weight(key) < program_.additions().num_weights();
  }

  // The bytes that the program has itself, in named data or as a constant of kernels.
  Result<FreeableBuffer> own_data(std::string_view key) const {
    const auto inside = inside_.find(key);
    if (inside == inside_.end()) return own_.get_data(key);
    return FreeableBuffer(program_.constant_data(inside->second.data_index),
                          inside->second.nbytes(), nullptr);
  }

 private:
  const Program& program_;
  // Many keys are looked for.
  runtime::ProgramDataMap own_;
  std::vector<uint32_t> order_;
  std::map<std::string_view, TensorView> outside_, inside_;
};

// How data for one key is next to what there is.
enum class Standing { Unknown, Equal, Other };

class Comparison {
 public:
  Comparison(const NamedDataMap& now, const Program& program)
      : now_(now), program_(program), keys_(program) {}

  static Standing compare(const FreeableBuffer& before, const FreeableBuffer& data) {
    return same(bytes_of(before), bytes_of(data)) ? Standing::Equal : Standing::Other;
  }

  Result<Standing> standing(const char* key, const FreeableBuffer& data) const {
    // Each may be read from a file: only what counts is fetched.
    const bool outside_counts = program_.options().data_precedence == DataPrecedence::ExternalFirst;
    if (outside_counts) {
      const Result<FreeableBuffer> now = now_.get_data(key);
      if (now.ok()) return compare(*now, data);
      if (now.error() != Error::NotFound) return now.error();
    }
    const Result<FreeableBuffer> own = keys_.own_data(key);
    if (!own.ok() && own.error() != Error::NotFound) return own.error();
    if (own.ok()) {
      const Standing standing = compare(*own, data);
      if (outside_counts || standing == Standing::Equal) return standing;
      PETREL_LOG(Error,
                 "weight \"%.200s\" lies in the program with other bytes: only with "
                 "DataPrecedence::ExternalFirst does data take its place",
                 key);
      return Error::InvalidExternalData;
    }
    if (!outside_counts) {
      const Result<FreeableBuffer> now = now_.get_data(key);
      if (now.ok()) return compare(*now, data);
      if (now.error() != Error::NotFound) return now.error();
    }
    return keys_.needs_from_outside(key) ? Standing::Other : Standing::Unknown;
  }

 private:
  const NamedDataMap& now_;
  const Program& program_;
  const ProgramKeys keys_;
};

// Keys, and names of weights: all forms of a weight go together, such as "fc.weight" and
// "fc.weight@permute_1_0", which one method may need each.
bool matches(const std::string& glob, const std::string& key) {
  const std::string name = key.substr(0, key.find_first_of("@#"));
  return runtime::matches_glob(glob.c_str(), key.c_str()) ||
         runtime::matches_glob(glob.c_str(), name.c_str());
}

Error add_keys(const LoadedData& data, std::vector<const char*>* keys) {
  if (data.map() == nullptr) return Error::Ok;
  PETREL_ASSIGN_OR_RETURN(const uint32_t count, data.map()->get_num_keys());
  for (uint32_t i = 0; i < count; ++i) {
    PETREL_ASSIGN_OR_RETURN(const char* key, data.map()->get_key(i));
    keys->push_back(key);
  }
  return Error::Ok;
}

}  // namespace

Result<std::unique_ptr<ModuleData>> ModuleData::create(std::unique_ptr<LoadedData> base) {
  std::unique_ptr<ModuleData> data(new ModuleData());
  PETREL_RETURN_IF_ERROR(add_keys(*base, &data->sources_.keys));
  data->sources_.base = std::move(base);
  return data;
}

Result<DataChange> ModuleData::compare(std::shared_ptr<const LoadedData> data,
                                       const std::string& glob, const Program& program,
                                       bool is_complete) const {
  DataChange change;
  if (data->map() == nullptr) {
    PETREL_LOG(Error, "no data is given to replace other data with");
    return Error::InvalidArgument;
  }
  const Comparison comparison(*this, program);
  const char* unknown = nullptr;
  Keys matched, left_out;
  PETREL_ASSIGN_OR_RETURN(const uint32_t count, data->map()->get_num_keys());
  for (uint32_t i = 0; i < count; ++i) {
    PETREL_ASSIGN_OR_RETURN(const char* key, data->map()->get_key(i));
    if (!matches(glob, key)) {
      left_out.emplace(key);
      continue;
    }
    ++change.num_matches;
    matched.emplace(key);
    PETREL_ASSIGN_OR_RETURN(const FreeableBuffer bytes, data->map()->get_data(key));
    PETREL_ASSIGN_OR_RETURN(const Standing standing, comparison.standing(key, bytes));
    if (standing == Standing::Unknown) {
      unknown = key;
      ++change.num_unknown;
    }
    const bool is_wanted =
        standing == Standing::Other || (standing == Standing::Unknown && !is_complete);
    if (is_wanted) change.keys.emplace_back(key);
  }
  if (change.num_matches == 0) {
    PETREL_LOG(Error, "no key of the data matches \"%.200s\"", glob.c_str());
    return Error::NotFound;
  }
  if (change.num_unknown == change.num_matches && is_complete) {
    PETREL_LOG(Error,
               "the program needs none of the %zu keys of the data that match, such as "
               "\"%.200s\"",
               change.num_unknown, unknown);
    return Error::NotFound;
  }
  std::sort(change.keys.begin(), change.keys.end());
  change.keys.erase(std::unique(change.keys.begin(), change.keys.end()), change.keys.end());
  PETREL_RETURN_IF_ERROR(
      check_given_together(program.additions(), {change.keys.begin(), change.keys.end()}, matched));
  for (const std::string& key : sources_among(program.additions(), change.keys, left_out)) {
    PETREL_ASSIGN_OR_RETURN(const FreeableBuffer bytes, data->map()->get_data(key));
    PETREL_ASSIGN_OR_RETURN(const Standing standing, comparison.standing(key.c_str(), bytes));
    if (standing != Standing::Other) continue;
    PETREL_LOG(Error,
               "\"%.200s\" leaves out \"%.200s\", of which the data has another value, and "
               "takes what was computed from it",
               glob.c_str(), key.c_str());
    return Error::InvalidExternalData;
  }
  change.data = std::move(data);
  return change;
}

Result<ModuleData::Sources> ModuleData::replace(const DataChange& change) {
  Sources next = sources_;
  for (const std::string& key : change.keys) next.replaced[key] = change.data;
  next.keys.clear();
  std::set<std::string_view> of_base;
  PETREL_RETURN_IF_ERROR(add_keys(*next.base, &next.keys));
  of_base.insert(next.keys.begin(), next.keys.end());
  for (const auto& [key, data] : next.replaced) {
    if (of_base.count(key) == 0) next.keys.push_back(key.c_str());
  }
  // Maps keep their nodes, and so the keys, when they move.
  return std::exchange(sources_, std::move(next));
}

Error ReplacedSources::replace(const DataChange& change) {
  static_assert(std::is_nothrow_move_constructible_v<ModuleData::Sources> &&
                std::is_nothrow_move_assignable_v<ModuleData::Sources>);
  PETREL_ASSIGN_OR_RETURN(before_, data_.replace(change));
  return Error::Ok;
}

std::shared_ptr<const LoadedData> ModuleData::source_of(std::string_view key) const {
  const auto found = sources_.replaced.find(key);
  const auto& source = found == sources_.replaced.end() ? sources_.base : found->second;
  return source->map() == nullptr ? nullptr : source;
}

const NamedDataMap* ModuleData::owner(std::string_view key) const {
  const auto found = sources_.replaced.find(key);
  return found == sources_.replaced.end() ? sources_.base->map() : found->second->map();
}

Result<FreeableBuffer> ModuleData::get_data(std::string_view key) const {
  const NamedDataMap* const map = owner(key);
  if (map == nullptr) return Error::NotFound;
  return map->get_data(key);
}

Result<uint32_t> ModuleData::get_num_keys() const {
  return static_cast<uint32_t>(sources_.keys.size());
}

Result<const char*> ModuleData::get_key(uint32_t index) const {
  if (index >= sources_.keys.size()) return Error::InvalidArgument;
  return sources_.keys[index];
}

Result<const TensorLayout> ModuleData::get_tensor_layout(std::string_view key) const {
  const NamedDataMap* const map = owner(key);
  if (map == nullptr) return Error::NotFound;
  return map->get_tensor_layout(key);
}

Error ModuleData::load_data_into(std::string_view key, void* buffer, size_t size) const {
  const NamedDataMap* const map = owner(key);
  return map == nullptr ? Error::NotFound : map->load_data_into(key, buffer, size);
}

Result<BytePlace> ModuleData::find_place(std::string_view key, size_t size) const {
  const NamedDataMap* const map = owner(key);
  if (map == nullptr) return Error::NotFound;
  return map->find_place(key, size);
}

Result<bool> ModuleData::is_in_place(std::string_view key) const {
  const NamedDataMap* const map = owner(key);
  if (map == nullptr) return Error::NotFound;
  return map->is_in_place(key);
}

}  // namespace petrel::extension
