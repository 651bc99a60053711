// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/test_ops.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/ir/graph.h"

namespace petrel::exir {
namespace {

ArgSpec arg(const std::string& name, ArgKind kind) {
  ArgSpec spec;
  spec.name = name;
  spec.kind = kind;
  return spec;
}

ArgSpec list(ArgSpec spec) {
  spec.is_list = true;
  return spec;
}

ArgSpec symbolic(ArgSpec spec) {
  spec.is_symbolic = true;
  return spec;
}

ArgSpec optional(ArgSpec spec) {
  spec.is_optional = true;
  return spec;
}

ArgSpec with_default(ArgSpec spec, Argument value) {
  spec.has_default = true;
  spec.default_value = std::move(value);
  return spec;
}

absl::StatusOr<std::vector<Type>> same_as_self(const OpInfo& op,
                                               absl::Span<const Argument> arguments) {
  if (!arguments[0].is_value()) {
    return absl::InvalidArgumentError(absl::StrCat(op.full_name(), ": self is not a tensor"));
  }
  return std::vector<Type>{arguments[0].value()->type()};
}

OpInfo make(const std::string& name, const std::string& overload, std::vector<ArgSpec> args,
            size_t num_results, InferFn infer = nullptr) {
  OpInfo op;
  op.name = name;
  op.overload = overload;
  op.args = std::move(args);
  op.num_results = num_results;
  op.infer = infer;
  return op;
}

std::map<std::string, OpInfo> make_all() {
  const ArgSpec self = arg("self", ArgKind::kTensor);
  ArgSpec indices = list(arg("indices", ArgKind::kTensor));
  indices.has_optional_items = true;
  OpInfo split =
      make("aten::split", "Tensor", {self, symbolic(arg("split_size", ArgKind::kInt))}, 0);
  split.has_list_result = true;
  OpInfo delegate =
      make("petrel::delegate_call", "", {list(arg("arguments", ArgKind::kTensor))}, 0);
  delegate.has_list_result = true;
  std::map<std::string, OpInfo> ops;
  for (OpInfo op :
       {make("aten::add", "Tensor",
             {self, arg("other", ArgKind::kTensor),
              with_default(arg("alpha", ArgKind::kScalar), Argument(int64_t{1}))},
             1, same_as_self),
        make("aten::relu", "", {self}, 1, same_as_self),
        make("aten::cat", "",
             {list(arg("tensors", ArgKind::kTensor)),
              with_default(arg("dim", ArgKind::kInt), Argument(int64_t{0}))},
             1),
        make("aten::max", "dim", {self, arg("dim", ArgKind::kInt), arg("keepdim", ArgKind::kBool)},
             2),
        make("aten::mean", "dim",
             {self, optional(list(arg("dim", ArgKind::kInt))),
              with_default(arg("keepdim", ArgKind::kBool), Argument(false)),
              with_default(optional(arg("dtype", ArgKind::kScalarType)), Argument())},
             1),
        make("aten::index", "Tensor", {self, indices}, 1), split,
        make("aten::clone", "",
             {self,
              with_default(optional(arg("memory_format", ArgKind::kMemoryFormat)), Argument())},
             1, same_as_self),
        make("aten::view", "", {self, symbolic(list(arg("size", ArgKind::kInt)))}, 1),
        make("aten::pad", "",
             {self, list(arg("pad", ArgKind::kInt)),
              with_default(arg("mode", ArgKind::kString), Argument(std::string("constant"))),
              with_default(optional(arg("value", ArgKind::kFloat)), Argument())},
             1),
        make("aten::_assert", "", {self, arg("message", ArgKind::kString)}, 0), delegate}) {
    const std::string name = op.full_name();
    ops.emplace(name, std::move(op));
  }
  return ops;
}

}  // namespace

const OpInfo* find_test_op(absl::string_view full_name) {
  static const auto& ops = *new std::map<std::string, OpInfo>(make_all());
  auto it = ops.find(std::string(full_name));
  return it == ops.end() ? nullptr : &it->second;
}

ConstantPtr test_constant(const std::string& fqn, const TensorType& type) {
  static auto& kept = *new std::map<std::string, ConstantPtr>();
  ConstantPtr& slot = kept[absl::StrCat(fqn, " ", to_string(type))];
  if (slot == nullptr) {
    auto made = std::make_shared<Constant>();
    made->fqn = fqn;
    made->type = type;
    made->kind = absl::StartsWith(fqn, "state") ? Constant::Kind::kMutableBuffer
                                                : Constant::Kind::kParameter;
    made->data = Blob::owned(std::vector<uint8_t>(static_cast<size_t>(type.nbytes())));
    slot = std::move(made);
  }
  return slot;
}

}  // namespace petrel::exir
