// SPDX-License-Identifier: Apache-2.0
//
// DataSwap: other data for a method between two runs, all or nothing. The data map
// that the method was loaded with already answers with the other data:
//
//   DataSwap swap(&method, backend_options);
//   PETREL_RETURN_IF_ERROR(swap.prepare(changed));   // the method runs as before
//   swap.commit();                                   // cannot fail
//
//   delegates that may have asked for a changed key   get a handle from the same payload
//   tensors over a changed key                        point at the other data
//   state whose first value has a changed key         gets that value
//
// All else stays: other delegates, other state; but views, outputs among them, have no data
// until the method runs. A method has both handles of a delegate until commit() or the end
// of the swap. What is made anew lies in the method's allocator. Method, data map and options
// must outlive this. A program that remembers weights needs ProgramOptions::data_is_held,
// since what load_method holds itself is checked once. Module::replace_data does all of this.

#ifndef PETREL_RUNTIME_EXECUTOR_DATA_SWAP_H_
#define PETREL_RUNTIME_EXECUTOR_DATA_SWAP_H_

#include <string_view>

#include "runtime/backend/options.h"
#include "runtime/core/budget.h"
#include "runtime/core/span.h"
#include "runtime/executor/method.h"

namespace petrel::runtime {

class DataSwap final {
 public:
  // Options of backends as in load_method; may be null.
  DataSwap(Method* method, const LoadBackendOptionsMap* options);
  DataSwap(const DataSwap&) = delete;
  DataSwap& operator=(const DataSwap&) = delete;
  ~DataSwap();

  // `changed`: keys in ascending order. Once. InvalidState while the method is
  // stepped through; else what loading it with the data would say.
  Error prepare(Span<const std::string_view> changed);
  void commit();

  // What prepare() found.
  size_t num_delegates() const { return made_.size(); }
  size_t num_tensors() const { return num_tensors_; }
  // The index of delegate number `i` that is made anew.
  size_t delegate(size_t i) const;

 private:
  struct Made;
  struct Fetched;

  bool is_changed(std::string_view key) const;
  bool concerns(const MethodDelegate& delegate) const;
  std::string_view key_of(const MethodExternal& external) const;
  Error make_delegates();
  Error make_delegate(size_t index, Made* to);
  Error fetch_tensors();
  Result<FreeableBuffer> fetch(const MethodExternal& external) const;
  // Where a planned tensor of so many bytes lies.
  Result<void*> place_of(const TensorView& planned) const;
  void put(Fetched* fetched);

  Method& method_;
  const LoadBackendOptionsMap* options_;
  Budget memory_;
  Span<const std::string_view> changed_;
  // Those that exist; they grow while prepare() works.
  Span<Made> made_;
  Span<Fetched> fetched_;
  size_t num_tensors_ = 0;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_DATA_SWAP_H_
