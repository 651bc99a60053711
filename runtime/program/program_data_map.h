// SPDX-License-Identifier: Apache-2.0
//
// ProgramDataMap: the named data inside a program file, as a NamedDataMap. It
// has no layouts: get_tensor_layout gives NotImplemented. The entry
// `petrel.program` (program_additions.h) is none of it.
//
// A view of a verified program; loader and program must outlive it.

#ifndef PETREL_RUNTIME_PROGRAM_PROGRAM_DATA_MAP_H_
#define PETREL_RUNTIME_PROGRAM_PROGRAM_DATA_MAP_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/core/data_loader.h"
#include "runtime/core/named_data_map.h"
#include "runtime/core/span.h"
#include "runtime/program/program_view.h"

namespace petrel::runtime {

// All of a ProgramDataMap: copied by its bytes.
struct ProgramDataMapState {
  DataLoader* loader_ = nullptr;
  uint64_t segment_base_ = 0;
  ProgramView program_;
  // Entries by key; empty if they lie so.
  Span<const uint32_t> order_;
  // The index of the entry that is left out; the number of entries if none is.
  uint32_t hidden_ = 0;
  // Keys are in byte order: found by bisection. Other writers leave them in
  // any order: then every one is compared, unless there is an index.
  bool sorted_ = false;
};

class ProgramDataMap final : public NamedDataMap, private ProgramDataMapState {
 public:
  ProgramDataMap(DataLoader* loader, uint64_t segment_base, const ProgramView& program);

  // Whether keys are found by bisection.
  bool is_sorted() const { return sorted_; }
  uint32_t num_entries() const { return program_.num_named_data(); }
  // Makes `order`, one place for each entry, an index that find by bisection goes by.
  // It must outlive this.
  void sort(Span<uint32_t> order);

  Result<FreeableBuffer> get_data(std::string_view key) const override;
  Result<uint32_t> get_num_keys() const override;
  Result<const char*> get_key(uint32_t index) const override;
  Result<BytePlace> find_place(std::string_view key, size_t size) const override;
  Result<bool> is_in_place(std::string_view key) const override;

 private:
  friend class Program;
  struct Entries;

  // Of what is being loaded.
  ProgramDataMap() = default;

  std::optional<NamedDataView> find(std::string_view key) const;

  uint32_t entry_at(uint32_t place) const { return order_.empty() ? place : order_[place]; }
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_PROGRAM_DATA_MAP_H_
