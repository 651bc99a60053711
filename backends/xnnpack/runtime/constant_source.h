// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a payload's constants while a delegate is made: fetched from the
// payload or the named data map, once each, and in a form that XNNPACK may be
// given.
//
//   named data map --get_data--> FreeableBuffer --.
//   payload --------------------------------------+--> address, valid until the last
//   a copy, where the bytes lie badly ------------'    node was_read() it
//
// Of bytes that are most likely not needed, since they were packed before, only the
// address is reserved: a file that is read is then not read again.
//
// Filters and biases are fetched and packed one after the other when the XNNPACK
// runtime is made (weight_feed.h), so that a model is not in memory twice. What
// kernels read every time (operands of elementwise nodes) is kept as a copy of its
// own.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_CONSTANT_SOURCE_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_CONSTANT_SOURCE_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/runtime/over_read.h"
#include "runtime/core/byte_place.h"
#include "runtime/core/freeable_buffer.h"
#include "runtime/core/named_data_map.h"

namespace petrel::backends::xnnpack {

class ConstantSource {
 public:
  // `map` may be null. Both must outlive this.
  ConstantSource(const Graph& graph, const runtime::NamedDataMap* map);

  // The bytes of value `id`, a constant, as many as its dims say, for code that
  // does not read past them: that packs filters.
  runtime::Result<const void*> get_exact(uint32_t id);

  // The same for code that does.
  runtime::Result<const void*> get(uint32_t id);

  // The same bytes in `keep`, for as long as that lives.
  runtime::Result<const void*> get_kept(uint32_t id, std::vector<PaddedBuffer>* keep);

  // The bytes of value `id` where the map has them, for as long as `keep` lives: only where
  // is_in_place(). Null where they are not aligned.
  runtime::Result<const void*> get_in_place(uint32_t id,
                                            std::vector<runtime::FreeableBuffer>* keep);

  // Whether the map has the bytes of `key` where they stay.
  bool is_in_place(const std::string& key) const;

  // Where the bytes of value `id`, which were got, are from; nullopt where that is not sure.
  std::optional<runtime::BytePlace> place_of(uint32_t id) const;

  // The same before they were got: only of what the map has, which can be fetched later.
  std::optional<runtime::BytePlace> place_in_map(uint32_t id) const;

  // Memory for the bytes of value `id`, which has a place in the map, and the bytes
  // themselves, if they are needed after all.
  runtime::Result<void*> reserve(uint32_t id);
  runtime::Error fetch_reserved(uint32_t id);

  // The scales of value `id`: floats, for groups bfloat16s; all are what check_scale()
  // wants. Null for a value without a list of them.
  runtime::Result<const void*> get_scales(uint32_t id);

  // The least and the greatest of get_scales(id), which must have given floats.
  std::pair<float, float> range_of_scales(uint32_t id) const { return scales_.at(id).range; }

  // Says that one of the nodes which read value `id` does so no more. The last one
  // gives its bytes back.
  void was_read(uint32_t id);

 private:
  struct Fetched {
    runtime::FreeableBuffer buffer;
    const void* data = nullptr;
    size_t size = 0;
  };

  struct Reserved {
    runtime::FreeableBuffer memory;
    bool has_bytes = false;
  };

  struct ScaleList {
    PaddedBuffer data;
    std::pair<float, float> range;
  };

  runtime::Result<Fetched*> fetch(uint32_t id);
  // Entry `constant`, `needed` bytes of which value `id` reads.
  runtime::Result<Fetched*> fetch_entry(uint32_t constant, size_t needed, uint32_t id);
  runtime::Result<PaddedBuffer> copy_scales(uint32_t id);
  runtime::Result<PaddedBuffer> copy(uint32_t id);

  const Graph& graph_;
  const runtime::NamedDataMap* map_;
  std::map<uint32_t, Fetched> fetched_;      // by entry of Graph::constants
  std::map<uint32_t, size_t> readers_;       // inputs of nodes, by the same
  std::map<uint32_t, PaddedBuffer> copies_;  // by value
  std::map<uint32_t, Reserved> reserved_;    // by value
  std::map<uint32_t, ScaleList> scales_;     // by value
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_CONSTANT_SOURCE_H_
