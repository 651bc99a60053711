// SPDX-License-Identifier: Apache-2.0
//
// Filters and biases while an XNNPACK runtime is made: each is fetched when the
// operator that packs it is made, and given back after the last one, so that a model
// that is read from a file is never in memory as a whole beside its packed form.
//
//   node 0    fetch filter 0, bias 0    pack    give them back
//   node 1    fetch filter 1            pack    give it back
//
//   WeightFeed feed(graph, &constants, &session);
//   feed.add(defined, {id, true, use});          // the subgraph has `placeholder()`
//   xnn_set_late_data(feed.hooks());
//   xnn_create_runtime_v4(...);
//   xnn_set_late_data(nullptr);
//   if (feed.error() != Error::Ok) ...           // a weight is not there
//
// All that it is given must outlive it.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_WEIGHT_FEED_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_WEIGHT_FEED_H_

#include <petrel/packing.h>

#include <cstdint>
#include <map>
#include <string>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/runtime/constant_source.h"
#include "backends/xnnpack/runtime/weight_session.h"

namespace petrel::backends::xnnpack {

class WeightFeed {
 public:
  struct Weight {
    uint32_t id;  // in the graph, a constant
    bool is_filter = false;
    std::string use;  // how nodes use a filter, as far as its packed form depends on it
  };

  // `session` is null where weights are not shared.
  WeightFeed(const Graph& graph, ConstantSource* constants, WeightSession* session)
      : graph_(graph), constants_(constants), session_(session), hooks_{this, &get, &done} {}
  WeightFeed(const WeightFeed&) = delete;
  WeightFeed& operator=(const WeightFeed&) = delete;

  // What XNNPACK calls `defined`.
  void add(uint32_t defined, Weight weight);

  // Stands for data that comes later; nobody reads it.
  const void* placeholder() const { return &hooks_; }
  const xnn_late_data* hooks() const { return &hooks_; }

  // Of all filters, each use counted.
  size_t filter_bytes() const { return filter_bytes_; }
  runtime::Error error() const { return error_; }

 private:
  static bool get(void* context, uint32_t value_id, const void** data);
  static void done(void* context, const uint32_t* value_ids, size_t count);
  runtime::Result<const void*> fetch(uint32_t defined, const Weight& weight);
  // Its address alone, for a filter that was most likely packed before; else null.
  runtime::Result<const void*> promise(uint32_t defined, const Weight& weight);
  size_t bytes_of(uint32_t id) const;

  const Graph& graph_;
  ConstantSource* const constants_;
  WeightSession* const session_;
  const xnn_late_data hooks_;
  std::map<uint32_t, Weight> weights_;  // by XNNPACK's ids
  size_t filter_bytes_ = 0;
  runtime::Error error_ = runtime::Error::Ok;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_WEIGHT_FEED_H_
