// SPDX-License-Identifier: Apache-2.0
//
// What became of each weight of an export: its key, the constant it was made
// from, the file it went to. `petrel data build` makes new data from it, and the
// program remembers parts of it.
//
//   WeightLedger ledger;
//   ledger.record("conv.weight#0231", {&constant}, blob, "w.ptd", type);
//   ledger.weights().at("conv.weight#0231").sources;  // {"conv.weight"}
//
// A key has one row, which tells of the last weight recorded under it. Nothing
// is copied: the ledger keeps Blobs.
#ifndef PETREL_EXIR_BACKEND_WEIGHT_LEDGER_H_
#define PETREL_EXIR_BACKEND_WEIGHT_LEDGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "exir/ir/blob.h"
#include "exir/ir/constant.h"
#include "exir/ir/type.h"

namespace petrel::exir {

class WeightLedger {
 public:
  struct Weight {
    std::vector<std::string> sources;  // names of constants of the archive
    std::string destination;           // "" is the program
    std::optional<TensorType> layout;  // what the bytes mean, where somebody said
    Blob blob;
    bool is_state = false;  // the first value of state
  };

  // `blob`, made from `sources`, lies in `destination` under `key`. A layout that
  // is not given leaves the one recorded before.
  void record(const std::string& key, absl::Span<const Constant* const> sources, const Blob& blob,
              const std::string& destination, const std::optional<TensorType>& layout);

  // `source` lies among the program's constants and is called by its name.
  // AlreadyExists when that name holds other bytes.
  absl::Status record_inline(const Constant& source);

  // By key.
  const std::map<std::string, Weight>& weights() const { return weights_; }

 private:
  std::map<std::string, Weight> weights_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_WEIGHT_LEDGER_H_
