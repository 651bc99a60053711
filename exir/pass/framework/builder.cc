// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "exir/ops/paths.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// A node makes one builder, whose nodes take its place: a number in an archive may ask for
// any count of them.
constexpr size_t kMostMade = size_t{1} << 17;

// "conv2d" of aten::conv2d.
std::string short_name(const OpInfo& op) {
  const size_t colon = op.name.rfind(':');
  return colon == std::string::npos ? op.name : op.name.substr(colon + 1);
}

// Of one that is too long the beginning, whole characters of UTF-8, and a digest.
std::string shortened(const std::string& fqn) {
  if (fqn.size() <= kMostNameBytes) return fqn;
  size_t kept = kMostNameBytes / 2;
  while (kept > 0 && (static_cast<uint8_t>(fqn[kept]) & 0xC0) == 0x80) --kept;
  const Sha256 digest =
      sha256_of(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(fqn.data()), fqn.size()));
  return absl::StrCat(fqn.substr(0, kept), "@", to_hex(digest).substr(0, 16));
}

// A constant of rank 0. The importer names literals in the same way, so that
// equal ones are one: "literal_f32_40000000" is 2.0.
Value* literal(Graph& graph, Blob data, ScalarType dtype) {
  std::string fqn = absl::StrCat("literal_", std::string(scalar_type_name(dtype)), "_");
  const Blob::Bytes bytes = data.bytes();
  for (size_t i = bytes.size(); i-- > 0;) {
    absl::StrAppend(&fqn, absl::Hex(bytes.data()[i], absl::kZeroPad2));
  }
  return add_unique_constant(graph, fqn, TensorType::contiguous(dtype, {}), std::move(data));
}

}  // namespace

absl::StatusOr<Argument> Builder::number_of(const rules::Size& size) {
  const SizeExpression& number = size.expression();
  if (number.is_constant()) return Argument(number.constant());
  if (varying_ == Varying::kRefused) {
    return absl::UnimplementedError(
        absl::StrCat("size ", to_string(number), " varies, where only numbers are supported"));
  }
  return Argument(graph_.add_input(Type::integer(number), "size"));
}

absl::StatusOr<Argument> Builder::argument_of(const Arg& arg) {
  if (arg.sizes.empty() && !arg.is_list) return static_cast<const Argument&>(arg);
  Argument::List items;
  Ints ints;
  for (const rules::Size& size : arg.sizes) {
    PETREL_ASSIGN_OR_RETURN(Argument item, number_of(size));
    if (item.is_int()) ints.push_back(item.as_int());
    items.push_back(std::move(item));
  }
  if (!arg.is_list) return items[0];
  return ints.size() == items.size() ? Argument(std::move(ints)) : Argument(std::move(items));
}

absl::StatusOr<Node*> Builder::node(OpHandle op, std::initializer_list<Arg> arguments) {
  std::vector<Argument> made;
  for (const Arg& arg : arguments) {
    PETREL_ASSIGN_OR_RETURN(Argument argument, argument_of(arg));
    made.push_back(std::move(argument));
  }
  return node(exir::op(op), std::move(made));
}

absl::StatusOr<Node*> Builder::node(const OpInfo& op, std::vector<Argument> arguments) {
  if (made_.size() >= kMostMade) {
    return absl::ResourceExhaustedError(
        absl::StrCat("becomes more than ", kMostMade, " nodes, which is the limit for one"));
  }
  for (size_t i = arguments.size(); i < op.args.size(); ++i) {
    if (!op.args[i].has_default) {
      return absl::InternalError(
          absl::StrCat(op.full_name(), " is made without argument '", op.args[i].name, "'"));
    }
    arguments.push_back(op.args[i].default_value);
  }
  std::vector<Type> types;
  if (op.infer != nullptr) {
    PETREL_ASSIGN_OR_RETURN(types, op.infer(op, arguments));
  }
  Node* made = position_ == nullptr ? graph_.append(op, std::move(arguments), std::move(types),
                                                    short_name(op), source_)
                                    : graph_.insert_before(position_, op, std::move(arguments),
                                                           std::move(types), short_name(op));
  made_.insert(made);
  return made;
}

BuiltValue Builder::call(OpHandle op, std::initializer_list<Arg> arguments) {
  PETREL_ASSIGN_OR_RETURN(Node * made, node(op, arguments));
  return made->result();
}

BuiltValue Builder::view(Value* x, const rules::Sizes& sizes) {
  if (is_always(sizes_of(x), sizes)) return x;
  return call(aten::view, {x, sizes});
}

BuiltValue Builder::permute(Value* x, const Ints& dims) {
  if (dims == all_dims(dims.size())) return x;
  return call(aten::permute, {x, dims});
}

BuiltValue Builder::swap_last_two(Value* x) {
  Ints dims = all_dims(x->tensor().rank());
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return permute(x, dims);
}

BuiltValue Builder::expand(Value* x, const rules::Sizes& sizes) {
  if (is_always(sizes_of(x), sizes)) return x;
  return call(aten::expand, {x, sizes});
}

BuiltValue Builder::cast(Value* x, ScalarType dtype) {
  if (x->tensor().dtype == dtype) return x;
  return call(aten::_to_copy, {x, dtype});
}

BuiltValue Builder::slice(Value* x, int64_t dim, const rules::Size& start, const rules::Size& end,
                          const rules::Size& step) {
  if (dim < 0 || dim >= static_cast<int64_t>(x->tensor().rank())) {
    return absl::InvalidArgumentError(
        absl::StrCat("has no dim ", dim, " to cut in ", to_string(x->tensor())));
  }
  const rules::Size size(x->tensor().size(static_cast<size_t>(dim)));
  if (start.is(0) && step.is(1) && is_always(end, size)) return x;
  // What is negative at run time would count from the end.
  for (const rules::Size* bound : {&start, &end}) {
    if (!is_at_least(*bound, 0) && !bound->expression().is_constant()) rules::Paths::lose();
  }
  return call(aten::slice_Tensor, {x, dim, start, end, step});
}

BuiltValue Builder::binary(OpHandle op, Value* a, Value* b) { return call(op, {a, b}); }

BuiltValue Builder::scalar(const Argument& number, ScalarType dtype) {
  if (is_size(number) && !number.is_int()) {
    return call(aten::full, {Ints(), number, dtype});
  }
  if (!number.is_number()) {
    return absl::InvalidArgumentError("a number is computed at run time");
  }
  if (!number.is_int() || dtype != ScalarType::kLong) {
    return scalar(number.as_number(), dtype);
  }
  // A double has no room for all of these.
  const int64_t value = number.as_int();
  std::vector<uint8_t> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return literal(graph_, Blob::owned(std::move(bytes)), dtype);
}

BuiltValue Builder::scalar(double value, ScalarType dtype) {
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant({value}, dtype));
  return literal(graph_, std::move(data), dtype);
}

absl::Status Builder::replace(Node& node, Value* value) {
  std::vector<Value*> values(node.num_results(), nullptr);
  values[0] = value;
  return replace(node, values);
}

absl::Status Builder::replace(Node& node, const std::vector<Value*>& values) {
  std::vector<std::pair<Value*, std::string>> renames;
  for (size_t i = 0; i < node.num_results(); ++i) {
    Value* old = node.result(i);
    Value* value = values[i];
    if (value == nullptr) {
      if (!old->is_used()) continue;
      return absl::InternalError(absl::StrCat(node.describe(), ": result ", i, " is still used"));
    }
    // The rewriting itself says that they are the same.
    if (!agree(value->type(), old->type())) {
      return absl::InternalError(absl::StrCat(node.describe(), ": was rewritten from ",
                                              to_string(old->type()), " to ",
                                              to_string(value->type())));
    }
    if (value->producer() != nullptr && made_.count(value->producer()) > 0) {
      renames.emplace_back(value, old->name());
    }
    graph_.replace_all_uses(old, value);
  }
  if (position_ == &node) position_ = graph_.next(&node);
  graph_.erase(&node);
  for (const auto& [value, name] : renames) graph_.rename(value, name);
  return absl::OkStatus();
}

Value* add_unique_constant(Graph& graph, const std::string& fqn, const TensorType& type, Blob data,
                           Constant::Kind kind, std::vector<std::string> made_of) {
  const std::string base = shortened(fqn);
  std::string name = base;
  // Names of others are by their bytes, so that of many with one name none is compared with all.
  std::string own;
  for (int i = 0;; ++i) {
    Value* const taken = graph.find_constant(name);
    if (taken == nullptr) break;
    const Constant& constant = *taken->constant();
    if (!constant.is_mutable() && constant.type == type && constant.data.equals(data)) {
      return taken;
    }
    if (i == 0) own = absl::StrCat(base, ".", to_hex(data.sha256()).substr(0, 16));
    name = i == 0 ? own : absl::StrCat(own, ".", i);
  }
  auto made = std::make_shared<Constant>();
  made->fqn = name;
  made->kind = kind;
  made->type = type;
  made->data = std::move(data);
  made->made_of = std::move(made_of);
  return graph.add_constant(std::move(made));
}

Ints all_dims(size_t rank) {
  Ints dims(rank);
  std::iota(dims.begin(), dims.end(), int64_t{0});
  return dims;
}

int64_t product(const Sizes& sizes) {
  // The other sizes of an empty tensor may have any product.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  int64_t n = 1;
  for (int64_t size : sizes) {
    if (__builtin_mul_overflow(n, size, &n)) return std::numeric_limits<int64_t>::max();
  }
  return n;
}

int64_t wrap_dim(int64_t dim, size_t rank) {
  // A number has one dim here, as in eager.
  return dim < 0 ? dim + static_cast<int64_t>(std::max<size_t>(rank, 1)) : dim;
}

}  // namespace petrel::exir
