// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/needed_data.h"

#include <utility>

#include "absl/types/span.h"
#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "exir/emit/additions.h"
#include "schema/formats.h"

namespace petrel::extension {
namespace {

namespace xnnpack = backends::xnnpack;

constexpr char kKernels[] = "kernels";
constexpr char kXnnpack[] = "XnnpackBackend";

// Bytes by key, of one payload.
using PayloadKeys = std::map<std::string, uint64_t>;

// Nullopt for a payload that cannot be read.
std::optional<PayloadKeys> keys_of(absl::Span<const uint8_t> payload) {
  xnnpack::Graph graph;
  if (!xnnpack::read_payload(payload.data(), payload.size(), &graph).ok()) return std::nullopt;
  PayloadKeys keys;
  const auto add = [&](uint32_t entry, uint64_t bytes) {
    if (graph.constants[entry].is_named()) keys.emplace(graph.constants[entry].key, bytes);
  };
  for (const xnnpack::Value& value : graph.values) {
    // The dims were not checked: 0 for more bytes than a number holds.
    const bool fits = xnnpack::count_elements(value.dims) <= UINT64_MAX / sizeof(float);
    if (value.is_constant()) add(value.constant, fits ? xnnpack::count_bytes(value) : 0);
    const xnnpack::Scales& scales = value.quant.scales;
    add(scales.constant, uint64_t{scales.count} * xnnpack::scale_bytes(value));
  }
  return keys;
}

class Finder {
 public:
  explicit Finder(const DataProgram& program) : program_(program) {}

  NeededData find() {
    find_tensors();
    program_.for_each_delegate([&](const std::string& method, const std::string& backend,
                                   absl::Span<const uint8_t> payload) {
      add_delegate({method, backend}, payload);
    });
    for (const DataProgram::Named& named : program_.named()) {
      if (named.key == schema::kAdditionsKey) {
        add_remembered(named.blob);
        continue;
      }
      NeededKey& need = needed_.keys[named.key];
      need.bytes = named.blob.size();
      need.is_inside = true;
    }
    return std::move(needed_);
  }

 private:
  void find_tensors() {
    program_.for_each_tensor([&](const std::string& method, const DataProgram::Tensor& tensor) {
      const std::string name = DataProgram::name_of(tensor);
      const bool outside = DataProgram::is_external(tensor);
      if (name.empty() || (!outside && !DataProgram::is_constant(tensor))) return;
      const exir::TensorType type = DataProgram::type_of(tensor);
      const auto [found, is_new] = needed_.keys.emplace(name, NeededKey());
      if (is_new) {
        found->second.bytes = static_cast<uint64_t>(type.nbytes());
        found->second.layout = type;
        found->second.is_inside = !outside;
      }
      add_user({method, kKernels}, &found->second);
    });
  }

  void add_user(const DataUser& user, NeededKey* need) {
    needed_.has_more_users = needed_.has_more_users || uses_ == NeededData::kMaxUses;
    if (uses_ < NeededData::kMaxUses && need->users.insert(user).second) ++uses_;
  }

  void add_delegate(const DataUser& user, absl::Span<const uint8_t> payload) {
    // Delegates may share a payload, thousands of them.
    if (!seen_[payload.data()].insert(user).second) return;
    auto known = payloads_.find(payload.data());
    const bool is_known = known != payloads_.end();
    if (!is_known) {
      known =
          payloads_
              .emplace(payload.data(), user.backend == kXnnpack ? keys_of(payload) : std::nullopt)
              .first;
    }
    if (!known->second.has_value()) {
      needed_.unread.insert(user);
      return;
    }
    if (is_known && uses_ == NeededData::kMaxUses) {
      needed_.has_more_users = true;
      return;
    }
    for (const auto& [key, bytes] : *known->second) {
      NeededKey& need = needed_.keys[key];
      if (need.bytes == 0) need.bytes = bytes;
      add_user(user, &need);
    }
  }

  void add_remembered(const exir::Blob& additions) {
    for (const exir::WeightAddition& weight : exir::read_additions(additions).weights) {
      NeededKey& need = needed_.keys[weight.key];
      need.bytes = weight.bytes;
      if (!need.layout) need.layout = weight.layout;
    }
  }

  const DataProgram& program_;
  NeededData needed_;
  size_t uses_ = 0;
  std::map<const uint8_t*, std::optional<PayloadKeys>> payloads_;
  std::map<const uint8_t*, std::set<DataUser>> seen_;
};

}  // namespace

std::vector<std::string> NeededData::missing() const {
  std::vector<std::string> missing;
  for (const auto& [key, need] : keys) {
    if (!need.is_inside) missing.push_back(key);
  }
  return missing;
}

NeededData needed_data(const DataProgram& program) { return Finder(program).find(); }

}  // namespace petrel::extension
