// SPDX-License-Identifier: Apache-2.0
#include "examples/backend_packed/aot/packed_backend.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "examples/backend_packed/format/payload.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::backends::packed::aot {
namespace {

using exir::Argument;
using exir::Node;
using exir::ScalarType;
using exir::Support;
using exir::Value;

// A multiple that suits any vector unit.
constexpr uint64_t kBlobAlignment = 16;

bool is_add(const Node& node) { return node.is(exir::aten::add_Tensor); }

// All constants, one after the other. Two methods may have other weights under one name.
class Pack {
 public:
  void add(const exir::Constant& constant) {
    if (!offsets_.emplace(id_of(constant), elements()).second) return;
    const exir::Blob::Bytes bytes = constant.data.bytes();
    bytes_.insert(bytes_.end(), bytes.span().begin(), bytes.span().end());
    sources_.push_back(&constant);
  }

  absl::Status store(exir::RoutedBlobStore& store) {
    if (sources_.empty()) return absl::OkStatus();
    PETREL_ASSIGN_OR_RETURN(key_, store.add_derived("packed", sources_, "1",
                                                    exir::Blob::copy_of(bytes_), kBlobAlignment));
    return absl::OkStatus();
  }

  const std::string& key() const { return key_; }
  size_t elements() const { return bytes_.size() / sizeof(float); }
  size_t offset_of(const exir::Constant& constant) const { return offsets_.at(id_of(constant)); }

 private:
  using Id = std::pair<std::string, exir::Sha256>;
  static Id id_of(const exir::Constant& constant) { return {constant.fqn, constant.data.sha256()}; }

  std::vector<uint8_t> bytes_;
  std::vector<const exir::Constant*> sources_;
  std::map<Id, size_t> offsets_;  // in elements
  std::string key_;
};

// Adds the lines of one partition to its payload.
class Writer {
 public:
  explicit Writer(const Pack& pack) : pack_(pack) {
    absl::StrAppend(&text_, std::string(kFirstLine), "\n");
  }

  void input(const Value* value) {
    absl::StrAppend(&text_, "input ", value->tensor().numel(), "\n");
    number_of_[value] = count_++;
  }

  void constant(const Value* value) {
    absl::StrAppend(&text_, "part ", value->tensor().numel(), " ",
                    pack_.offset_of(*value->constant()), " ", pack_.elements(), " ", pack_.key(),
                    "\n");
    number_of_[value] = count_++;
  }

  void node(const Node& node) {
    absl::StrAppend(&text_, is_add(node) ? "add " : "mul ",
                    number_of_.at(node.input(exir::arg::self)), " ",
                    number_of_.at(node.input(exir::arg::other)), "\n");
    number_of_[node.result()] = count_++;
  }

  void output(const Value* value) {
    absl::StrAppend(&text_, "output ", number_of_.at(value), "\n");
  }

  exir::Blob payload() const { return exir::Blob::owned({text_.begin(), text_.end()}); }

 private:
  const Pack& pack_;
  std::string text_;
  std::map<const Value*, size_t> number_of_;
  size_t count_ = 0;
};

}  // namespace

Support PackedPartitioner::supports(const Node& node) const {
  if (!node.is(exir::aten::add_Tensor, exir::aten::mul_Tensor)) {
    return Support::no("only aten.add.Tensor and aten.mul.Tensor are taken");
  }
  const exir::TensorType& type = node.result()->tensor();
  if (type.dtype != ScalarType::kFloat || !type.is_contiguous()) {
    return Support::no("the result is not a contiguous float tensor");
  }
  for (size_t i = 0; i < 2; ++i) {
    const Argument& operand = node.arguments()[i];
    if (!operand.is_value() || operand.value()->type() != node.result()->type()) {
      return Support::no("an operand is not of the type of the result");
    }
  }
  if (is_add(node)) {
    const Argument& alpha = node.argument(exir::arg::alpha);
    if (!alpha.is_number() || alpha.as_number() != 1) {
      return Support::no("alpha is not 1");
    }
  }
  return Support::yes();
}

std::string PackedBackend::id() const { return std::string(kBackendId); }

absl::StatusOr<exir::ResultMap> PackedBackend::preprocess_all(const exir::SubprogramMap& partitions,
                                                              exir::RoutedBlobStore& store) const {
  Pack pack;
  for (const auto& [method, subprograms] : partitions) {
    for (const exir::Subprogram& partition : subprograms) {
      for (const Value* value : partition.graph->constants()) pack.add(*value->constant());
    }
  }
  PETREL_RETURN_IF_ERROR(pack.store(store));
  exir::ResultMap results;
  for (const auto& [method, subprograms] : partitions) {
    for (const exir::Subprogram& partition : subprograms) {
      Writer writer(pack);
      for (const Value* input : partition.graph->inputs()) writer.input(input);
      for (const Value* constant : partition.graph->constants()) writer.constant(constant);
      for (const auto& node : partition.graph->nodes()) writer.node(*node);
      for (const Value* output : partition.graph->outputs()) writer.output(output);
      results[method].emplace_back().payload = writer.payload();
    }
  }
  return results;
}

const exir::Backend* packed_backend() {
  static const PackedBackend* const kBackend = new PackedBackend;
  return kBackend;
}

}  // namespace petrel::backends::packed::aot
