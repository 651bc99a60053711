// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/method_values.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "exir/backend/weight_routes.h"
#include "exir/ir/region_values.h"
#include "exir/ops/handles.h"

namespace petrel::exir {
namespace {

absl::Status misfit(const ArgSpec& spec, const char* wanted) {
  return absl::InvalidArgumentError(absl::StrCat("argument '", spec.name, "' is not ", wanted));
}

// A loop makes it row by row.
bool is_stacked(const Value& value) {
  const Node* loop = value.producer();
  if (loop == nullptr || !loop->is(petrel_ops::map, petrel_ops::scan)) return false;
  const size_t carried = region_values(*loop).carried.size();
  for (size_t i = carried; i < loop->num_results(); ++i) {
    if (loop->result(i) == &value) return true;
  }
  return false;
}

}  // namespace

MethodValues::MethodValues(flatbuffers::FlatBufferBuilder& builder, const Storage& storage,
                           const MemoryPlan& plan, const StatePlan& state,
                           const ExternalFn& is_external, const ExternalFn& is_named,
                           ProgramSegments& segments)
    : storage_(storage),
      plan_(plan),
      state_(state),
      is_external_(is_external),
      is_named_(is_named),
      segments_(segments),
      table_(builder) {}

int32_t MethodValues::of(const Value* value) {
  value = storage_.same(value);
  auto known = entries_.find(value);
  if (known != entries_.end()) return known->second;
  int32_t entry;
  if (!value->type().is_tensor()) {
    entry = table_.add_scalar(value->type().kind);
  } else {
    const Value* root = storage_.root(value);
    const Constant* weight = nullptr;
    TensorPlace place;
    auto planned = plan_.offsets.find(root);
    if (planned != plan_.offsets.end()) {
      place.arena_offset = planned->second;
      const auto pool = plan_.pools.find(root);
      if (pool != plan_.pools.end()) place.memory_id = 1 + static_cast<uint32_t>(pool->second);
    }
    place.grows = is_stacked(*value);
    // Such a view gets its memory when its instruction runs.
    if (value->producer() != nullptr && storage_.is_view(*value->producer())) {
      entry = table_.add_tensor(value->tensor(), {});
      entries_[value] = entry;
      return entry;
    }
    if (value->is_input()) place.fqn = value->name();  // so that callers can name it
    if (root->is_constant()) {
      const Constant& constant = *root->constant();
      if (constant.is_mutable()) {
        const auto shared = state_.offsets.find(constant.fqn);
        if (shared != state_.offsets.end()) {
          // Behind the one arena, or the pools.
          place.memory_id = 1 + static_cast<uint32_t>(std::max<size_t>(1, plan_.pool_bytes.size()));
          place.arena_offset = shared->second;
        }
        // The initial value and the name belong to the buffer, not its views;
        // a view makes sure that the buffer is there.
        if (root != value) {
          of(root);
        } else {
          place.fqn = constant.fqn;
          if (is_external_(constant)) {
            place.is_external = true;
          } else if (!starts_as_zeros(constant)) {
            place.data_buffer_idx = segments_.add_initial_state(constant.data);
          }
        }
      } else if (is_external_(constant)) {
        place.is_external = true;
        place.fqn = constant.fqn;
      } else {
        place.data_buffer_idx = segments_.add_constant(constant.data);
        if (root == value && is_named_(constant)) place.fqn = constant.fqn;
        if (root != value) {
          viewed_.insert(&constant);
        } else if (place.fqn.empty() && !constant.fqn.empty() &&
                   constant.kind != Constant::Kind::kLiteral) {
          weight = &constant;
        }
      }
    }
    entry = table_.add_tensor(value->tensor(), place);
    if (weight != nullptr) weights_[static_cast<uint32_t>(entry)] = weight;
  }
  entries_[value] = entry;
  return entry;
}

std::map<uint32_t, const Constant*> MethodValues::weights() const {
  std::map<uint32_t, const Constant*> weights;
  for (const auto& [entry, weight] : weights_) {
    if (viewed_.count(weight) == 0) weights.emplace(entry, weight);
  }
  return weights;
}

absl::StatusOr<int32_t> MethodValues::of_list(const ArgSpec& spec, const Argument& argument) {
  // A list that holds values is a list of Arguments, any other a typed one.
  std::vector<Argument> items;
  if (argument.is_list()) {
    items = argument.as_list();
  } else if (argument.is_ints()) {
    for (int64_t item : argument.as_ints()) items.emplace_back(item);
  } else if (argument.is_floats()) {
    for (double item : argument.as_floats()) items.emplace_back(item);
  } else if (argument.is_bools()) {
    for (bool item : argument.as_bools()) items.emplace_back(item);
  } else {
    return misfit(spec, "a list");
  }

  switch (spec.kind) {
    case ArgKind::kTensor: {
      std::vector<int32_t> entries;
      for (const Argument& item : items) {
        if (item.is_value()) {
          entries.push_back(of(item.value()));
        } else if (item.is_none() && spec.has_optional_items) {
          entries.push_back(-1);
        } else {
          return misfit(spec, "a list of tensors");
        }
      }
      return spec.has_optional_items ? table_.optional_tensor_list(entries)
                                     : table_.tensor_list(entries);
    }
    case ArgKind::kInt: {
      std::vector<int32_t> entries;
      for (const Argument& item : items) {
        if (item.is_value()) {
          entries.push_back(of(item.value()));
        } else if (item.is_int()) {
          entries.push_back(table_.int_value(item.as_int()));
        } else {
          return misfit(spec, "a list of ints");
        }
      }
      return table_.int_list(entries);
    }
    case ArgKind::kFloat: {
      std::vector<double> values;
      for (const Argument& item : items) {
        if (!item.is_number()) return misfit(spec, "a list of floats");
        values.push_back(item.as_number());
      }
      return table_.double_list(values);
    }
    case ArgKind::kBool: {
      std::vector<bool> values;
      for (const Argument& item : items) {
        if (!item.is_bool()) return misfit(spec, "a list of bools");
        values.push_back(item.as_bool());
      }
      return table_.bool_list(values);
    }
    default:
      return misfit(spec, "of a kind that a program can hold as a list");
  }
}

absl::StatusOr<int32_t> MethodValues::of_argument(const ArgSpec& spec, const Argument& argument) {
  if (argument.is_none()) {
    // An absent tensor that the schema wants there is one without elements.
    if (spec.kind == ArgKind::kTensor && !spec.is_list && !spec.is_optional) {
      return table_.add_tensor(TensorType::contiguous(ScalarType::kByte, {0}), {});
    }
    return table_.null_value();
  }
  if (spec.is_list) return of_list(spec, argument);
  if (argument.is_value()) return of(argument.value());

  switch (spec.kind) {
    case ArgKind::kTensor:
      return misfit(spec, "a tensor");
    case ArgKind::kScalar:
      if (argument.is_int()) return table_.int_value(argument.as_int());
      if (argument.is_float()) return table_.double_value(argument.as_float());
      if (argument.is_bool()) return table_.bool_value(argument.as_bool());
      return misfit(spec, "a number");
    case ArgKind::kInt:
      if (argument.is_int()) return table_.int_value(argument.as_int());
      return misfit(spec, "an int");
    case ArgKind::kFloat:
      if (!argument.is_number()) return misfit(spec, "a float");
      return table_.double_value(argument.as_number());
    case ArgKind::kBool:
      if (argument.is_bool()) return table_.bool_value(argument.as_bool());
      return misfit(spec, "a bool");
    case ArgKind::kString:
      if (!argument.is_string()) return misfit(spec, "a string");
      return table_.string_value(argument.as_string());
    case ArgKind::kScalarType:
      if (!argument.is_scalar_type()) return misfit(spec, "an element type");
      return table_.int_value(static_cast<int64_t>(argument.as_scalar_type()));
    case ArgKind::kLayout:
      return table_.int_value(0);  // strided, the only one there is
    case ArgKind::kDevice:
      return table_.null_value();
    case ArgKind::kMemoryFormat: {
      if (!argument.is_memory_format()) return misfit(spec, "a memory format");
      const MemoryFormat format = argument.as_memory_format();
      if (format != MemoryFormat::kContiguous && format != MemoryFormat::kPreserve) {
        return misfit(spec, "the contiguous or the preserved memory format");
      }
      return table_.int_value(static_cast<int64_t>(format));
    }
  }
  return misfit(spec, "of a known kind");
}

int32_t MethodValues::of_fixed(const Argument& output) {
  if (output.is_int()) return table_.int_value(output.as_int());
  if (output.is_float()) return table_.double_value(output.as_float());
  if (output.is_bool()) return table_.bool_value(output.as_bool());
  if (output.is_string()) return table_.string_value(output.as_string());
  return table_.null_value();
}

bool MethodValues::has_state() const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
    const Value* root = storage_.root(entry.first);
    return root->is_constant() && state_.offsets.count(root->constant()->fqn) != 0;
  });
}

}  // namespace petrel::exir
