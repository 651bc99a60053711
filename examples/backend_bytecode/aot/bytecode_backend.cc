// SPDX-License-Identifier: Apache-2.0
#include "examples/backend_bytecode/aot/bytecode_backend.h"

#include <cstring>
#include <limits>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "examples/backend_bytecode/format/bytecode.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::backends::bytecode::aot {
namespace {

namespace aten = exir::aten;
namespace arg = exir::arg;
using exir::Argument;
using exir::Node;
using exir::Support;
using exir::Value;

constexpr uint64_t kBlobAlignment = 16;

struct Op {
  Opcode opcode;
  bool is_binary;
};

struct Row {
  exir::OpHandle op;
  Op code;
};

constexpr Row kRows[] = {
    {aten::add_Tensor, {Opcode::kAdd, true}}, {aten::add_Scalar, {Opcode::kAdd, true}},
    {aten::sub_Tensor, {Opcode::kSub, true}}, {aten::sub_Scalar, {Opcode::kSub, true}},
    {aten::mul_Tensor, {Opcode::kMul, true}}, {aten::mul_Scalar, {Opcode::kMul, true}},
    {aten::relu, {Opcode::kRelu, false}},
};

// Null for operators that have no code.
const Op* find_code(const Node& node) {
  for (const Row& row : kRows) {
    if (node.is(row.op)) return &row.code;
  }
  return nullptr;
}

// Of every tensor of the partition.
uint32_t elements_of(const exir::Graph& partition) {
  if (partition.outputs().empty()) return 0;
  const exir::TensorType& type = partition.outputs()[0]->tensor();
  return type.is_dynamic() ? kVaryingElements : static_cast<uint32_t>(type.numel());
}

// The factor of the second operand of an addition or subtraction.
const Argument* alpha_of(const Node& node) {
  return node.op().find_arg(arg::alpha) < 0 ? nullptr : &node.argument(arg::alpha);
}

class CodeWriter {
 public:
  explicit CodeWriter(exir::PreprocessResult* result) : result_(result) {}

  void instruction(Opcode opcode) { bytes_.push_back(static_cast<uint8_t>(opcode)); }
  void instruction(Opcode opcode, uint16_t operand) {
    instruction(opcode);
    u16(operand);
  }
  void number(double value) {
    instruction(Opcode::kNumber);
    const auto narrow = static_cast<float>(value);
    uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof(bits));
    u16(static_cast<uint16_t>(bits));
    u16(static_cast<uint16_t>(bits >> 16));
  }
  void u16(uint16_t value) {
    bytes_.push_back(static_cast<uint8_t>(value));
    bytes_.push_back(static_cast<uint8_t>(value >> 8));
  }
  void text(const std::string& text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }

  // The next instruction computes `value`.
  void mark(const Value* value) {
    result_->debug_handles[static_cast<uint32_t>(bytes_.size())] = value->name();
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  exir::PreprocessResult* result_;
  std::vector<uint8_t> bytes_;
};

// Gives values places: arguments, blobs and locals, which are used again after
// the last use of what they held.
class Compiler {
 public:
  Compiler(const exir::Subprogram& partition, exir::RoutedBlobStore& store,
           exir::PreprocessResult* result)
      : partition_(partition), store_(store), code_(result) {}

  absl::Status run() {
    const exir::Graph& graph = *partition_.graph;
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      PETREL_RETURN_IF_ERROR(place(graph.inputs()[i], Opcode::kInput, i));
    }
    for (const Value* constant : graph.constants()) PETREL_RETURN_IF_ERROR(blob(constant));
    for (const auto& node : graph.nodes()) PETREL_RETURN_IF_ERROR(add(*node));
    return absl::OkStatus();
  }

  exir::Blob payload() const {
    const exir::Graph& graph = *partition_.graph;
    exir::PreprocessResult unused;
    CodeWriter head(&unused);
    head.text(std::string(kMagic));
    const uint32_t elements = elements_of(graph);
    head.u16(static_cast<uint16_t>(elements));
    head.u16(static_cast<uint16_t>(elements >> 16));
    head.u16(static_cast<uint16_t>(graph.inputs().size()));
    head.u16(static_cast<uint16_t>(graph.outputs().size()));
    head.u16(static_cast<uint16_t>(keys_.size()));
    head.u16(static_cast<uint16_t>(num_locals_));
    for (const std::string& key : keys_) {
      head.u16(static_cast<uint16_t>(key.size()));
      head.text(key);
    }
    std::vector<uint8_t> bytes = head.bytes();
    bytes.insert(bytes.end(), code_.bytes().begin(), code_.bytes().end());
    return exir::Blob::owned(std::move(bytes));
  }

 private:
  struct Place {
    Opcode opcode;
    uint16_t index;
  };

  absl::Status place(const Value* value, Opcode opcode, size_t index) {
    if (index > std::numeric_limits<uint16_t>::max()) {
      return absl::InvalidArgumentError(absl::StrCat("value '", value->name(), "' would be number ",
                                                     index, ", must be below 65536"));
    }
    places_[value] = {opcode, static_cast<uint16_t>(index)};
    return absl::OkStatus();
  }

  absl::Status blob(const Value* value) {
    const exir::Constant& constant = *value->constant();
    PETREL_ASSIGN_OR_RETURN(std::string key,
                            store_.add_weight(constant, constant.data, kBlobAlignment));
    PETREL_RETURN_IF_ERROR(place(value, Opcode::kBlob, keys_.size()));
    keys_.push_back(std::move(key));
    return absl::OkStatus();
  }

  void push(const Argument& argument) {
    if (!argument.is_value()) return code_.number(argument.as_number());
    const Place& place = places_.at(argument.value());
    code_.instruction(place.opcode, place.index);
  }

  absl::Status add(const Node& node) {
    const Op& op = *find_code(node);
    push(node.argument(arg::self));
    if (op.is_binary) {
      push(node.argument(arg::other));
      const Argument* alpha = alpha_of(node);
      if (alpha != nullptr && alpha->as_number() != 1) {
        code_.number(alpha->as_number());
        code_.instruction(Opcode::kMul);
      }
    }
    code_.mark(node.result());
    code_.instruction(op.opcode);
    for (const Value* operand : node.operands()) forget(operand);

    PETREL_RETURN_IF_ERROR(place(node.result(), Opcode::kLoad, free_local()));
    const uint16_t local = places_.at(node.result()).index;
    code_.instruction(Opcode::kSave, local);
    uses_left_[node.result()] = node.result()->users().size();
    const std::vector<Value*>& outputs = partition_.graph->outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] != node.result()) continue;
      code_.instruction(Opcode::kLoad, local);
      code_.instruction(Opcode::kOutput, static_cast<uint16_t>(i));
    }
    if (node.result()->users().empty()) free_.push_back(local);
    return absl::OkStatus();
  }

  size_t free_local() {
    if (free_.empty()) return num_locals_++;
    const size_t local = free_.back();
    free_.pop_back();
    return local;
  }

  // After a use.
  void forget(const Value* value) {
    const auto left = uses_left_.find(value);
    if (left == uses_left_.end() || --left->second > 0) return;
    free_.push_back(places_.at(value).index);
  }

  const exir::Subprogram& partition_;
  exir::RoutedBlobStore& store_;
  CodeWriter code_;
  std::vector<std::string> keys_;
  std::map<const Value*, Place> places_;
  std::map<const Value*, size_t> uses_left_;  // of values in locals
  std::vector<size_t> free_;
  size_t num_locals_ = 0;
};

}  // namespace

Support BytecodePartitioner::supports(const Node& node) const {
  const Op* code = find_code(node);
  if (code == nullptr) return Support::no("is none of add, sub, mul and relu");
  const exir::TensorType& type = node.result()->tensor();
  if (type.dtype != exir::ScalarType::kFloat || !type.is_contiguous()) {
    return Support::no("the result is not a contiguous float tensor");
  }
  if (type.numel() >= kVaryingElements) {
    return Support::no("the result has 2^32 - 1 elements or more");
  }
  for (size_t i = 0; i < (code->is_binary ? 2u : 1u); ++i) {
    const Argument& operand = node.arguments()[i];
    if (operand.is_number() && i == 1) continue;
    if (!operand.is_value() || operand.value()->type() != node.result()->type()) {
      return Support::no(absl::StrCat("operand ", i, " is not of the type of the result"));
    }
  }
  const Argument* alpha = alpha_of(node);
  if (alpha != nullptr && !alpha->is_number()) return Support::no("alpha is not a number");
  return Support::yes();
}

std::string BytecodePartitioner::group(const Node& node) const {
  return exir::to_string(node.result()->tensor());
}

std::string BytecodeBackend::id() const { return kBackendId; }

absl::Status BytecodeBackend::check_compile_specs(
    const std::vector<exir::CompileSpec>& specs) const {
  for (const exir::CompileSpec& spec : specs) {
    if (spec.key != kBlockOption) {
      return absl::InvalidArgumentError(absl::StrCat("backend '", id(),
                                                     "' does not know compile spec '", spec.key,
                                                     "', it takes '", kBlockOption, "'"));
    }
    uint32_t block = 0;
    if (!absl::SimpleAtoi(spec.value, &block) || block == 0 || block > kMaxBlock) {
      return absl::InvalidArgumentError(absl::StrCat(
          "compile spec '", spec.key, "' is '", spec.value, "', must be in [1, ", kMaxBlock, "]"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<exir::PreprocessResult> BytecodeBackend::preprocess(
    const exir::Subprogram& partition, exir::RoutedBlobStore& store) const {
  exir::PreprocessResult result;
  Compiler compiler(partition, store, &result);
  PETREL_RETURN_IF_ERROR(compiler.run());
  result.payload = compiler.payload();
  return result;
}

const exir::Backend* bytecode_backend() {
  static const BytecodeBackend* const kBackend = new BytecodeBackend;
  return kBackend;
}

}  // namespace petrel::backends::bytecode::aot
