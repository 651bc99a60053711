// SPDX-License-Identifier: Apache-2.0
//
// The store of one export, as backends and the emitter see it: a NamedBlobStore
// behind the routes of the export, and the ledger of the weights that went
// through. A backend adds a weight in one call; the options of the export decide
// its key and its file, and the payload takes the key:
//
//   PETREL_ASSIGN_OR_RETURN(std::string key,
//                           store.add_weight(constant, constant.data, 16));
//
// What it made of several weights, such as all of them packed into one blob, it declares
// with its name, and with a recipe that tells one way of packing from another:
//
//   PETREL_ASSIGN_OR_RETURN(key, store.add_derived("tiles", {&a, &b}, "8x4", packed, 64));
//
// So data can be made for both by whoever has other weights. Anything else, such as a
// table, goes in under a key of its own, which should identify the bytes:
//
//   PETREL_RETURN_IF_ERROR(store.add_named_blob("exp.i8", table, 16, "").status());
//
// Whoever exports makes the store and says where data goes:
//
//   RoutedBlobStore store;               // all of it into the program
//   RoutedBlobStore store("w.ptd");      // all of it into a file
//   RoutedBlobStore store(routes);       // exir/backend/weight_routes.h
//
//   add_weight      --> routes: key, file --> blobs: key -> bytes
//   add_derived     -->                    |
//   add_named_blob  --> routes: file ------'
//                                          '-> ledger: what became of each weight
//
// The blobs hold every weight of the ledger that does not lie among the
// program's constants. Weights of delegates that are in no such call were bypassed:
// nobody can replace or move them. Nothing is copied: the store keeps Blobs.
#ifndef PETREL_EXIR_BACKEND_ROUTED_BLOB_STORE_H_
#define PETREL_EXIR_BACKEND_ROUTED_BLOB_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/backend/named_blob_store.h"
#include "exir/backend/weight_ledger.h"
#include "exir/backend/weight_routes.h"
#include "exir/ir/blob.h"
#include "exir/ir/constant.h"
#include "exir/ir/type.h"

namespace petrel::exir {

// Weights that were to go to one file and lie in another, which had their bytes
// before: under content keys a key lies in one file of an export.
struct WeightsElsewhere {
  std::string wanted;  // "" is the program, as everywhere
  std::string lie_in;
  size_t weights = 0;
  uint64_t bytes = 0;
};

// A weight that its backend stored by itself, or not at all.
struct BypassedWeight {
  std::string weight;
  std::string backend_id;
  std::string wanted;  // the file of the rule that it matches; "" for none
};

class RoutedBlobStore {
 public:
  // Precondition: `default_file` is "" or a plain file name.
  explicit RoutedBlobStore(const std::string& default_file = "");
  // Precondition: routes.check() is OK.
  explicit RoutedBlobStore(WeightRoutes routes);

  // Stores what a backend made of `source`, a constant of the program, and
  // returns its key (WeightRoutes::key_for_backend). `form` tells how the bytes
  // differ from those of the source ("" when they do not), `layout` what they
  // mean, which data files tell where weights are called by name.
  // Errors are those of add_named_blob; AlreadyExists when the key holds other
  // bytes, as when two weights of one name differ.
  absl::StatusOr<std::string> add_weight(const Constant& source, const Blob& blob,
                                         uint64_t alignment, const std::string& form = "",
                                         const std::optional<TensorType>& layout = std::nullopt);

  // Stores what a backend made of several constants, of one method or of many, and
  // returns its key, under names "NAME@made_RECIPE". All weights among the sources must go
  // to one file; literals follow them. Errors are those of add_weight; InvalidArgument for
  // no source, no name, and weights of several files; AlreadyExists for weights of one
  // name, where names call them, with other bytes.
  absl::StatusOr<std::string> add_derived(const std::string& name,
                                          absl::Span<const Constant* const> sources,
                                          const std::string& recipe, const Blob& blob,
                                          uint64_t alignment);

  // As NamedBlobStore has it, but that "" is wherever the export sends data.
  absl::StatusOr<bool> add_named_blob(const std::string& key, const Blob& blob, uint64_t alignment,
                                      const std::string& external_file,
                                      const std::optional<TensorType>& layout = std::nullopt);

  // For the emitter: a weight that a kernel reads from a file, where it is
  // always called by its name. Errors are those of add_weight.
  // Precondition: routes().file_for_kernel(source) is not "".
  absl::Status add_kernel_weight(const Constant& source, uint64_t alignment);

  // The same of the first value of state.
  // Precondition: routes().file_for_state(state) is not "".
  absl::Status add_state(const Constant& state, uint64_t alignment);

  // For the emitter: a kernel reads a weight that lies among the program's
  // constants. AlreadyExists when two weights of one name differ and names count.
  absl::Status note_inline_weight(const Constant& source);

  // A partition that was compiled has `source`. InvalidArgument where the weight was
  // bypassed and is to go to a file under its name, by a rule or because all are.
  absl::Status check_declared(const Constant& source, const std::string& backend_id);

  // What is stored from now on belongs to this backend, and so it may to several.
  void begin_backend(const std::string& id) { backend_id_ = id; }
  // Ids of backends. Empty where none stored it.
  std::set<std::string> backends_of(const std::string& key) const;

  // In the order in which they were found.
  const std::vector<BypassedWeight>& bypassed() const { return bypassed_; }

  // InvalidArgument naming the first rule that no weight so far has matched.
  absl::Status check_all_rules_matched() const;

  const WeightRoutes& routes() const { return routes_; }
  const NamedBlobStore& blobs() const { return blobs_; }
  // By the file that was wanted.
  std::vector<WeightsElsewhere> elsewhere() const;
  // Of the weights above; literals are not among them.
  const WeightLedger& ledger() const { return ledger_; }

 private:
  using Sources = absl::Span<const Constant* const>;

  // Literals, which have no name in the model, are called by content.
  bool is_called_by_name(const Constant& source) const;
  // Where `routed`, one of the sources, is to go.
  absl::Status place_for_backend(Sources sources, const Constant& routed, const std::string& key,
                                 const Blob& blob, uint64_t alignment,
                                 const std::optional<TensorType>& layout);
  absl::Status place(Sources sources, const std::string& key, const Blob& blob, uint64_t alignment,
                     const std::string& destination, const std::optional<TensorType>& layout);

  WeightRoutes routes_;
  NamedBlobStore blobs_;
  WeightLedger ledger_;
  std::set<size_t> matched_rules_;
  std::set<std::string> declared_;  // names of weights
  std::string backend_id_;
  std::map<std::string, std::set<std::string>> backends_of_;  // by key
  std::vector<BypassedWeight> bypassed_;
  // Bytes by key, by the file that was wanted and the one where they lie.
  std::map<std::pair<std::string, std::string>, std::map<std::string, uint64_t>> elsewhere_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_ROUTED_BLOB_STORE_H_
