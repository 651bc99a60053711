// SPDX-License-Identifier: Apache-2.0
#include "backends/null/aot/null_backend.h"

#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "backends/null/format/payload.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::backends::null::aot {
namespace {

using exir::Argument;
using exir::Node;
using exir::ScalarType;
using exir::Support;
using exir::Value;

// A multiple that suits any vector unit.
constexpr uint64_t kBlobAlignment = 16;

bool is_add(const Node& node) { return node.is(exir::aten::add_Tensor); }

// Adds the lines of one partition to its payload.
class Writer {
 public:
  explicit Writer(exir::RoutedBlobStore& store) : store_(store) {
    absl::StrAppend(&text_, std::string(kFirstLine), "\n");
  }

  void input(const Value* value) {
    absl::StrAppend(&text_, "input ", value->tensor().numel(), "\n");
    number_of_[value] = count_++;
  }

  absl::Status constant(const Value* value) {
    const exir::Constant& constant = *value->constant();
    PETREL_ASSIGN_OR_RETURN(const std::string key,
                            store_.add_weight(constant, constant.data, kBlobAlignment));
    // A key may be a name of the model, and those hold anything.
    if (key.find('\n') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("key '", absl::CHexEscape(key),
                                                     "' has a line break, and a payload is lines"));
    }
    absl::StrAppend(&text_, "blob ", value->tensor().numel(), " ", key, "\n");
    number_of_[value] = count_++;
    return absl::OkStatus();
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
  exir::RoutedBlobStore& store_;
  std::string text_;
  std::map<const Value*, size_t> number_of_;
  size_t count_ = 0;
};

}  // namespace

Support NullPartitioner::supports(const Node& node) const {
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

std::string NullBackend::id() const { return std::string(kBackendId); }

absl::StatusOr<exir::PreprocessResult> NullBackend::preprocess(const exir::Subprogram& partition,
                                                               exir::RoutedBlobStore& store) const {
  Writer writer(store);
  for (const Value* input : partition.graph->inputs()) writer.input(input);
  for (const Value* constant : partition.graph->constants()) {
    PETREL_RETURN_IF_ERROR(writer.constant(constant));
  }
  for (const auto& node : partition.graph->nodes()) writer.node(*node);
  for (const Value* output : partition.graph->outputs()) writer.output(output);
  exir::PreprocessResult result;
  result.payload = writer.payload();
  return result;
}

const exir::Backend* null_backend() {
  static const NullBackend* const kBackend = new NullBackend;
  return kBackend;
}

}  // namespace petrel::backends::null::aot
