// SPDX-License-Identifier: Apache-2.0
#include "examples/null_npu/aot/null_npu_backend.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "examples/null_npu/c/c_source.h"
#include "examples/null_npu/format/commands.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::backends::null_npu::aot {
namespace {

namespace aten = exir::aten;
namespace arg = exir::arg;
using exir::Node;
using exir::Support;
using exir::Value;

constexpr uint64_t kBlobAlignment = 64;  // of a transfer of the device
// Of the handle of the driver, on processors of 32 and of 64 bits.
constexpr int64_t kDriverRoom = 32;
constexpr char kFormSpec[] = "form";

class PayloadWriter {
 public:
  void word(size_t value) {
    const auto narrow = static_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) {
      bytes_.push_back(static_cast<uint8_t>(narrow >> shift));
    }
  }
  void text(const std::string& text) {
    word(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }
  exir::Blob blob() { return exir::Blob::owned(std::move(bytes_)); }

 private:
  std::vector<uint8_t> bytes_;
};

Op op_of(const Node& node) {
  if (node.is(aten::add_Tensor)) return Op::kAdd;
  return node.is(aten::mul_Tensor) ? Op::kMul : Op::kRelu;
}

bool writes_c(const std::vector<exir::CompileSpec>& specs) {
  return !specs.empty() && specs.back().value == "c";
}

}  // namespace

Support NullNpuPartitioner::supports(const Node& node) const {
  if (!node.is(aten::add_Tensor, aten::mul_Tensor, aten::relu)) {
    return Support::no("is none of add, mul and relu");
  }
  const exir::TensorType& type = node.result()->tensor();
  if (type.dtype != exir::ScalarType::kFloat || !type.is_contiguous()) {
    return Support::no("the result is not a contiguous float tensor");
  }
  for (size_t i = 0; i < (node.is(aten::relu) ? 1u : 2u); ++i) {
    const exir::Argument& operand = node.arguments()[i];
    if (!operand.is_value() || operand.value()->type() != node.result()->type()) {
      return Support::no(absl::StrCat("operand ", i, " is not of the type of the result"));
    }
  }
  if (!node.is(aten::add_Tensor)) return Support::yes();
  const exir::Argument& alpha = node.argument(arg::alpha);
  return alpha.is_number() && alpha.as_number() == 1 ? Support::yes()
                                                     : Support::no("alpha is not 1");
}

std::string NullNpuPartitioner::group(const Node& node) const {
  return exir::to_string(node.result()->tensor());
}

std::string NullNpuBackend::id() const { return kBackendId; }

std::string NullNpuBackend::target() const { return kTarget; }

absl::Status NullNpuBackend::check_compile_specs(
    const std::vector<exir::CompileSpec>& specs) const {
  for (const exir::CompileSpec& spec : specs) {
    if (spec.key == kFormSpec && (spec.value == "c" || spec.value == "payload")) continue;
    return absl::InvalidArgumentError(absl::StrCat("compile spec '", spec.key, "' is '", spec.value,
                                                   "', must be form: c or payload"));
  }
  return absl::OkStatus();
}

absl::StatusOr<exir::PreprocessResult> NullNpuBackend::preprocess(
    const exir::Subprogram& partition, exir::RoutedBlobStore& store) const {
  const exir::Graph& graph = *partition.graph;
  std::map<const Value*, size_t> numbers;
  PayloadWriter payload;
  payload.word(kMagic);
  payload.word(graph.inputs().size());
  payload.word(graph.constants().size());
  payload.word(graph.nodes().size());
  payload.word(graph.outputs().size());
  for (const Value* input : graph.inputs()) numbers.emplace(input, numbers.size());
  for (const Value* value : graph.constants()) {
    const exir::Constant& constant = *value->constant();
    PETREL_ASSIGN_OR_RETURN(const std::string key,
                            store.add_weight(constant, constant.data, kBlobAlignment));
    payload.text(key);
    numbers.emplace(value, numbers.size());
  }
  for (const auto& node : graph.nodes()) {
    payload.word(static_cast<size_t>(op_of(*node)));
    payload.word(numbers.at(node->operands().front()));
    payload.word(numbers.at(node->operands().back()));
    numbers.emplace(node->result(), numbers.size());
  }
  for (const Value* output : graph.outputs()) payload.word(numbers.at(output));
  exir::PreprocessResult result;
  result.payload = payload.blob();
  return result;
}

absl::StatusOr<exir::CDelegate> NullNpuBackend::to_c(const exir::LoweredPartition& partition,
                                                     const std::string& prefix) const {
  if (writes_c(partition.compile_specs)) return c_source(*partition.graph, prefix);
  exir::CDelegate delegate;
  delegate.driver = exir::driver_name(id());
  delegate.room_bytes = kDriverRoom;
  return delegate;
}

const exir::Backend* null_npu_backend() {
  static const NullNpuBackend* const kBackend = new NullNpuBackend;
  return kBackend;
}

}  // namespace petrel::backends::null_npu::aot
