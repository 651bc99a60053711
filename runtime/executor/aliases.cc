// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/aliases.h"

#include "runtime/core/log.h"
#include "runtime/core/scalar_type.h"

namespace petrel::runtime {

bool Aliases::Shared::add(uint32_t value) {
  for (size_t i = 0; i < size; ++i) {
    if (values[i] == value) return true;
  }
  if (size == kMostShared) return false;
  values[size++] = value;
  return true;
}

bool Aliases::is_callers(uint32_t value) const {
  return place_of(value).kind == Place::Kind::Caller;
}

Aliases::Roles Aliases::roles_of(uint32_t value) const {
  Shared shared;
  if (!find_shared(value, &shared)) return {true, true, true};
  Roles roles = {};
  for (size_t i = 0; i < shared.size; ++i) {
    const uint8_t io = io_[shared.values[i]];
    const Place::Kind kind = place_of(shared.values[i]).kind;
    roles.constant |= kind == Place::Kind::Constant;
    roles.input |= kind == Place::Kind::Caller && (io & kInput) != 0;
    roles.output |= kind == Place::Kind::Caller && (io & kOutput) != 0;
  }
  return roles;
}

Aliases::Place Aliases::place_of(uint32_t value) const {
  Place place;
  const std::optional<TensorView> from = tensor(value);
  if (!from) return place;
  place.id = value;
  place.end = from->nbytes();
  if (from->is_planned()) {
    place = {Place::Kind::Arena, from->arena, from->arena_offset,
             from->arena_offset + from->nbytes()};
  } else if (from->is_constant()) {
    place.kind = Place::Kind::Constant;
  } else if ((io_[value] & (kInput | kOutput)) != 0) {
    place.kind = Place::Kind::Caller;
  }
  return place;
}

bool Aliases::overlap(const Place& a, const Place& b) {
  if (a.kind != b.kind || a.id != b.id) return false;
  return a.begin < a.end && b.begin < b.end && a.begin < b.end && b.begin < a.end;
}

bool Aliases::find_shared(uint32_t value, Shared* out) const {
  out->add(value);
  for (size_t i = 0; i < out->size; ++i) {
    const uint32_t each = out->values[i];
    bool fits = !is_view(each) || out->add(bases_[each]);
    if (is_moved(each)) {
      for (uint32_t n = rings_[each]; fits && n != each; n = rings_[n]) fits = out->add(n);
    }
    if (fits) continue;
    PETREL_LOG(Error, "method \"%.64s\": value %u shares its memory with more than %zu others",
               declared_.name().data(), value, kMostShared);
    return false;
  }
  return true;
}

// Both are tensors.
bool Aliases::has_elements_of(uint32_t a, uint32_t b) const {
  const std::optional<TensorView> x = tensor(a), y = tensor(b);
  if (element_size(x->scalar_type) != element_size(y->scalar_type)) return false;
  const auto without_ones = [](Span<const int32_t> sizes) {
    size_t ones = 0;
    while (ones < sizes.size() && sizes[ones] == 1) ++ones;
    return sizes.subspan(ones);
  };
  if (!equal(without_ones(x->sizes), without_ones(y->sizes))) return false;
  return equal(x->dim_order, y->dim_order) ||
         (is_contiguous_dim_order(x->dim_order) && is_contiguous_dim_order(y->dim_order));
}

// What shares memory with many is looked at with all of them.
Error Aliases::pay_for_pair(size_t a, size_t b) { return pay(uint64_t{a} * (a > b ? a : b)); }

Error Aliases::pay(uint64_t pairs) {
  pairs_ += pairs;
  if (pairs_ <= kMostPairs) return Error::Ok;
  PETREL_LOG(Error, "method \"%.64s\": its calls have too many arguments to compare",
             declared_.name().data());
  return Error::OutOfResources;
}

// A list may have 150,000 entries that are no tensors, and four bytes name it once more.
Result<bool> Aliases::next(Tensors* at) {
  for (;;) {
    while (at->next_item < at->items.size()) {
      at->item = at->next_item++;
      at->value = static_cast<uint32_t>(at->items[at->item]);
      if (at->items[at->item] >= 0 && is_tensor(at->value)) return true;
      PETREL_RETURN_IF_ERROR(pay(1));
    }
    if (at->next_argument == at->arguments.size()) return false;
    at->argument = at->next_argument++;
    at->value = static_cast<uint32_t>(at->arguments[at->argument]);
    at->item = at->next_item = 0;
    at->items = {};
    const ValueView from = declared_.value(at->value);
    if (from.tag() == Tag::Tensor) return true;
    at->items = from.tensor_items();
    PETREL_RETURN_IF_ERROR(pay(1));
  }
}

bool Aliases::is_written(const Checked& checked, uint32_t argument) {
  return (argument >= checked.first && argument - checked.first < checked.count) ||
         (checked.and_last && argument + 1 == checked.num_arguments);
}

// Of a kernel whose row does not say: what the call returns is named last, one
// tensor, a list of them, or a list of those that come before it one by one.
Aliases::Checked Aliases::find_returned(const Call& call) const {
  const auto last = static_cast<uint32_t>(call.args.size() - 1);
  const int32_t returned = call.args[last];
  const Span<const int32_t> list = declared_.value(returned).tensor_items();
  const auto length = static_cast<uint32_t>(list.size());
  if (length != 0 && length <= last) {
    bool are_before = true;
    for (uint32_t i = 0; i < length && are_before; ++i) {
      are_before = call.args[last - length + i] == list[i];
    }
    if (are_before) return {call, last, last - length, length, false, false};
  }
  for (uint32_t i = last; i-- > 0;) {
    if (call.args[i] == returned) return {call, last, i, 1, false, false};
  }
  return {call, last + 1, last, 1, false, false};
}

Error Aliases::check_kernel(const Call& call, const KernelOutputs& outputs,
                            const ScratchView& scratch) {
  const auto count = static_cast<uint32_t>(call.args.size());
  if (outputs.kind == KernelOutputs::Kind::Returned) {
    return count == 0 ? Error::Ok : check(find_returned(call), scratch);
  }
  const uint32_t num_arguments = outputs.num_arguments < count ? outputs.num_arguments : count;
  const bool and_last = outputs.and_last && num_arguments == outputs.num_arguments;
  return check({call, num_arguments, outputs.first, outputs.count, outputs.in_place, and_last},
               scratch);
}

Error Aliases::check_delegate(const Call& call, size_t num_outputs) {
  const auto count = static_cast<uint32_t>(call.args.size());
  const auto written = static_cast<uint32_t>(num_outputs < count ? num_outputs : count);
  return check({call, count, count - written, written, false, false}, {});
}

Error Aliases::check(const Checked& checked, const ScratchView& scratch) {
  for (uint32_t i = 0; i < checked.num_arguments; ++i) {
    if (!is_written(checked, i)) continue;
    for (Tensors at(checked.call.args.slice(i, 1));;) {
      PETREL_ASSIGN_OR_RETURN(const bool found, next(&at));
      if (!found) break;
      PETREL_RETURN_IF_ERROR(check_output(checked, i, at.item, at.value));
    }
  }
  if (scratch.size == 0) return Error::Ok;
  const Place place = {Place::Kind::Arena, scratch.arena, scratch.offset,
                       scratch.offset + scratch.size};
  return check_apart(checked, {kNone, kNone, kNone, {&place, 1}});
}

Error Aliases::check_output(const Checked& checked, uint32_t argument, uint32_t item,
                            uint32_t value) {
  const Call& call = checked.call;
  Shared shared;
  if (!find_shared(value, &shared)) return Error::NotSupported;
  PETREL_RETURN_IF_ERROR(pay_for_pair(shared.size, 1));
  Place places[kMostShared];
  for (size_t i = 0; i < shared.size; ++i) {
    const uint32_t input = shared.values[i];
    places[i] = place_of(input);
    if (writable_inputs_ || !is_input(input) || places[i].kind != Place::Kind::Caller) continue;
    PETREL_LOG(Error,
               "method \"%.64s\": instruction %u:%u, %s, writes argument %u, which is memory of "
               "the caller's input (value %u); allow it with writable_inputs",
               declared_.name().data(), call.chain, call.instruction, call.name, argument, input);
    return Error::InvalidProgram;
  }
  return check_apart(checked, {argument, item, value, {places, shared.size}});
}

Error Aliases::check_apart(const Checked& checked, const Written& written) {
  for (Tensors other(checked.call.args.first(checked.num_arguments));;) {
    PETREL_ASSIGN_OR_RETURN(const bool found, next(&other));
    if (!found) return Error::Ok;
    if (other.argument == written.argument && other.item == written.item) continue;
    PETREL_RETURN_IF_ERROR(check_pair(checked, written, other.argument, other.value));
  }
}

Error Aliases::check_pair(const Checked& checked, const Written& written, uint32_t other,
                          uint32_t other_value) {
  const bool is_scratch = written.value == kNone;
  const bool may_be_same = checked.in_place && !is_scratch && !is_written(checked, other);
  if (may_be_same && written.value == other_value) return pay_for_pair(1, 1);
  Shared others;
  if (!find_shared(other_value, &others)) return Error::NotSupported;
  PETREL_RETURN_IF_ERROR(pay_for_pair(others.size, written.places.size()));
  for (size_t k = 0; k < others.size; ++k) {
    const Place b = place_of(others.values[k]);
    for (const Place& a : written.places) {
      if (!overlap(a, b)) continue;
      if (may_be_same && a.begin == b.begin && a.end == b.end &&
          has_elements_of(written.value, other_value)) {
        continue;
      }
      report(checked, written, other, other_value);
      return Error::InvalidProgram;
    }
  }
  return Error::Ok;
}

void Aliases::report(const Checked& checked, const Written& written, uint32_t other,
                     uint32_t other_value) const {
  if (written.value == kNone) {
    PETREL_LOG(Error,
               "method \"%.64s\": the scratch memory of instruction %u:%u, %s, is shared "
               "with argument %u (value %u)",
               declared_.name().data(), checked.call.chain, checked.call.instruction,
               checked.call.name, other, other_value);
    return;
  }
  PETREL_LOG(Error,
             "method \"%.64s\": instruction %u:%u, %s, writes argument %u (value %u), which "
             "shares memory with argument %u (value %u)%s",
             declared_.name().data(), checked.call.chain, checked.call.instruction,
             checked.call.name, written.argument, written.value, other, other_value,
             checked.in_place ? " and is not the same bytes, elements and order" : "");
}

}  // namespace petrel::runtime
