// SPDX-License-Identifier: Apache-2.0
//
// The packed weights of one delegate, as XNNPACK asks for them while it makes
// the delegate's operators: it names a filter and a bias by their addresses,
// packs them into memory of the session, and the session keeps that or what
// PackedWeights has of the same bytes.
//
//   WeightSession session;
//   session.begin(bytes_of_filters, bytes_of_filters, HugePages::kNever, nullptr, {});
//   xnn_create_runtime_v4(subgraph, session.provider(), ...);
//       session.reads_filter({value, filter, size, place}, use);   // before an operator
//       session.reads_nothing();                                   // and after it
//   if (session.failed()) ...     // XNNPACK does not look at all results
//   session.end();
//
// What PackedWeights has of the same bytes and use is taken and not packed. With a
// PackedFile, weights that are in the file are mapped instead, and others are added
// to it.
//
// It must outlive the XNNPACK runtime that was made with it.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_WEIGHT_SESSION_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_WEIGHT_SESSION_H_

#include <xnnpack.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "backends/xnnpack/runtime/packed_file.h"
#include "backends/xnnpack/runtime/packed_weights.h"
#include "runtime/core/budget.h"
#include "runtime/core/byte_place.h"

namespace petrel::backends::xnnpack {

class WeightSession {
 public:
  struct FileUse {
    std::shared_ptr<PackedFile> file;
    PackedFile::Verify verify = PackedFile::Verify::kFirstUse;
  };

  // A filter or bias that the next operator reads: XNNPACK's value, and its bytes.
  struct Weight {
    uint32_t value;
    const void* data;
    size_t size;
    std::optional<runtime::BytePlace> place;  // where that is known for sure
  };

  WeightSession();
  WeightSession(const WeightSession&) = delete;
  WeightSession& operator=(const WeightSession&) = delete;

  // How many bytes packed filters may have that nobody pays for, of filters of so many.
  static uint64_t free_bytes(uint64_t filter_bytes);

  // `memory` pays for packed filters that are far larger than the `filter_bytes` of
  // the filters; null: nothing limits them.
  void begin(size_t expected_bytes, size_t filter_bytes, HugePages huge_pages,
             runtime::Budget* memory, FileUse file);
  void end();

  // `use` is how nodes use it, as far as its packed form depends on that: a value has
  // one. It must outlive what is read.
  // With a `fetch` the bytes are not there before it was called, which happens once and
  // only if they must be packed; it says whether they came.
  void reads_filter(const Weight& filter, const std::string* use,
                    std::function<bool()> fetch = nullptr);
  void reads_bias(const Weight& bias) { bias_ = bias; }
  void reads_nothing();

  // Whether it looks for what was packed from the same place; a file has its own index.
  bool wants_places() const { return file_.file == nullptr; }

  // Whether it will hardly have to pack `size` bytes from `place`.
  bool is_likely_packed(const runtime::BytePlace& place, size_t size, const std::string& use) const;

  // True when a packed filter could not be kept: the XNNPACK runtime made with
  // this session must not run.
  bool failed() const { return failed_; }

  // True when packing stopped because `memory` did not suffice.
  bool over_budget() const { return over_budget_; }

  // How much was packed since begin(), not found.
  uint64_t packed_bytes() const { return packed_bytes_; }

  xnn_weights_cache_t provider() { return &provider_; }

 private:
  // The values of filter and bias and what XNNPACK makes of their sizes. Addresses
  // come again. The bias that the operator reads counts where XNNPACK names none, too: it
  // packs those of activations that are quantised at run time beside the scales.
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;

  // None where XNNPACK asks for what the operator does not read.
  std::optional<Key> key_of(const xnn_weights_cache_look_up_key& key) const;
  // Its key in the file; none without a file or for an unknown filter.
  std::optional<PackedFile::Key> file_key(const xnn_weights_cache_look_up_key& key) const;
  // None where it is not known for sure, or with a file, which has its own copy.
  std::optional<PackedOrigin> origin(const xnn_weights_cache_look_up_key& key) const;
  size_t keep(const xnn_weights_cache_look_up_key& key, PackedRegionPtr region);
  void forget(const xnn_weights_cache_look_up_key& key);

  bool pay_for(size_t size);
  static size_t look_up(void* context, const xnn_weights_cache_look_up_key* key);
  static void* reserve_space(void* context, size_t size);
  static size_t look_up_or_insert(void* context, const xnn_weights_cache_look_up_key* key,
                                  void* data, size_t size);
  static bool is_finalized(void* context);
  static void* offset_to_address(void* context, size_t offset);
  static xnn_status delete_cache(void* context);

  xnn_weights_cache_provider provider_;
  runtime::Budget* memory_ = nullptr;
  bool over_budget_ = false;
  // Bytes of packed filters that are free, or paid for.
  uint64_t paid_ = 0;
  uint64_t packed_bytes_ = 0;
  std::shared_ptr<PackedArena> arena_;
  // What XNNPACK is writing now.
  std::unique_ptr<PackedRegion> pending_;
  // XNNPACK's "offset" is an index into this.
  std::vector<PackedRegionPtr> regions_;
  std::map<Key, size_t> indices_;
  FileUse file_;
  // Of the operator that is being made.
  std::optional<Weight> filter_;
  std::optional<Weight> bias_;
  const std::string* use_ = nullptr;
  std::function<bool()> fetch_;
  bool failed_ = false;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_WEIGHT_SESSION_H_
