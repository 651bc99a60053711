// SPDX-License-Identifier: Apache-2.0
//
// The packed weights of one delegate, as XNNPACK asks for them while it makes
// the delegate's operators: it names a filter and a bias by their addresses,
// the session knows what lies there and finds or keeps the packed form in
// PackedWeights.
//
//   WeightSession session;
//   session.add_filter(filter_data, digest_of_bytes_and_use);
//   session.add_bias(bias_data, digest_of_bytes);
//   xnn_create_runtime_v4(subgraph, session.provider(), ...);
//   if (session.failed()) ...     // XNNPACK does not look at all results
//   session.forget_sources();     // filters and biases may be freed now
//
// It must outlive the XNNPACK runtime that was made with it. Two filters at one
// address that are used differently must be given different addresses.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_WEIGHT_SESSION_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_WEIGHT_SESSION_H_

#include <xnnpack.h>

#include <map>
#include <memory>
#include <vector>

#include "backends/xnnpack/runtime/packed_weights.h"

namespace petrel::backends::xnnpack {

class WeightSession {
 public:
  WeightSession();
  WeightSession(const WeightSession&) = delete;
  WeightSession& operator=(const WeightSession&) = delete;

  // `identity` stands for the bytes and for all of the node that decides how
  // they are packed.
  void add_filter(const void* data, const Digest& identity);
  void add_bias(const void* data, const Digest& identity);
  void forget_sources();

  // True when a packed filter could not be kept: the XNNPACK runtime made with
  // this session must not run.
  bool failed() const { return failed_; }

  xnn_weights_cache_t provider() { return &provider_; }

 private:
  static size_t look_up(void* context, const xnn_weights_cache_look_up_key* key);
  static void* reserve_space(void* context, size_t size);
  static size_t look_up_or_insert(void* context, const xnn_weights_cache_look_up_key* key,
                                  void* data, size_t size);
  static bool is_finalized(void* context);
  static void* offset_to_address(void* context, size_t offset);
  static xnn_status delete_cache(void* context);

  // False when the filter or bias is not one of those added.
  bool make_key(const xnn_weights_cache_look_up_key& in, Digest* out) const;
  size_t keep(const Digest& key, PackedRegionPtr region);

  xnn_weights_cache_provider provider_;
  std::map<const void*, Digest> filters_;
  std::map<const void*, Digest> biases_;
  // What XNNPACK is writing now.
  std::unique_ptr<PackedRegion> pending_;
  // XNNPACK's "offset" is an index into this.
  std::vector<PackedRegionPtr> regions_;
  std::map<Digest, size_t> indices_;
  bool failed_ = false;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_WEIGHT_SESSION_H_
