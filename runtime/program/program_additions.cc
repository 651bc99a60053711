// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_additions.h"

#include <cinttypes>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/core/named_data_map.h"
#include "runtime/program/segment.h"
#include "runtime/program/table_verifier.h"
#include "runtime/program/text_check.h"
#include "schema/additions_generated.h"
#include "schema/additions_shape.h"
#include "schema/formats.h"

namespace petrel::runtime {
namespace add = schema::additions;

namespace {

using Places = flatbuffers::Vector<const add::ScratchPlace*>;

uint64_t order_of(uint32_t chain, uint32_t instruction) {
  return uint64_t{chain} << 32 | instruction;
}

uint64_t order_of(const add::ScratchPlace& place) {
  return order_of(place.chain(), place.instruction());
}

uint64_t order_of(const add::LeastSize& least) { return order_of(least.input(), least.dim()); }

// The row whose order is `wanted`, of rows in ascending order; null if there is none.
template <typename Row>
const Row* find_in_order(const flatbuffers::Vector<const Row*>* rows, uint64_t wanted) {
  if (rows == nullptr) return nullptr;
  uint32_t begin = 0;
  uint32_t end = rows->size();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (order_of(*rows->Get(middle)) < wanted) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == rows->size() || order_of(*rows->Get(begin)) != wanted) return nullptr;
  return rows->Get(begin);
}

ScratchView view_of(const add::ScratchPlace& place) {
  return {place.chain(), place.instruction(), place.memory_id(), place.offset(), place.size()};
}

bool is_kernel_call(const MethodView& method, const add::ScratchPlace& place) {
  if (place.chain() >= method.num_chains()) return false;
  const ChainView chain = method.chain(place.chain());
  return place.instruction() < chain.num_instructions() &&
         chain.instruction(place.instruction()).kind == InstructionView::Kind::Kernel;
}

bool is_in_arena(const MethodView& method, const add::ScratchPlace& place) {
  return place.memory_id() != 0 && place.memory_id() <= method.num_arenas() &&
         in_bounds(place.offset(), place.size(), method.arena_bytes(place.memory_id()));
}

Error verify_scratch(const MethodView& plan, const Places& places) {
  const char* const method = plan.name().data();
  if (!is_aligned(&places, alignof(add::ScratchPlace))) {
    PETREL_LOG(Error, "method \"%.64s\": the places of scratch are not aligned", method);
    return Error::InvalidProgram;
  }
  for (uint32_t i = 0; i < places.size(); ++i) {
    const add::ScratchPlace& place = *places.Get(i);
    const char* wrong = nullptr;
    if (!is_kernel_call(plan, place)) {
      wrong = "is for an instruction that does not call a kernel";
    } else if (!is_in_arena(plan, place)) {
      wrong = "is not in an arena";
    } else if (i > 0 && order_of(*places.Get(i - 1)) >= order_of(place)) {
      wrong = "is out of order";
    }
    if (wrong == nullptr) continue;
    PETREL_LOG(Error,
               "method \"%.64s\": scratch %u, %" PRIu64 " bytes at %" PRIu64
               " of arena %u for instruction %u:%u, %s",
               method, i, place.size(), place.offset(), place.memory_id(), place.chain(),
               place.instruction(), wrong);
    return Error::InvalidProgram;
  }
  return Error::Ok;
}

Error verify_least_sizes(const MethodView& plan, const add::MethodAdditions& additions) {
  const auto* const sizes = additions.least_sizes();
  bool good = is_aligned(sizes, alignof(add::LeastSize));
  for (uint32_t i = 1; good && sizes != nullptr && i < sizes->size(); ++i) {
    good = order_of(*sizes->Get(i - 1)) < order_of(*sizes->Get(i));
  }
  if (good) return Error::Ok;
  PETREL_LOG(Error, "method \"%.64s\": the least sizes of inputs are not aligned or out of order",
             plan.name().data());
  return Error::InvalidProgram;
}

bool is_inner_constant(const MethodView& method, uint32_t value) {
  if (value >= method.num_values()) return false;
  const std::optional<TensorView> tensor = method.value(value).as_tensor();
  return tensor.has_value() && tensor->is_inner_constant();
}

Error verify_names(const MethodView& plan, const add::MethodAdditions& additions) {
  const auto* const values = additions.named_values();
  const auto* const names = additions.names();
  const uint32_t count = values == nullptr ? 0 : values->size();
  bool good = count == (names == nullptr ? 0 : names->size()) && is_aligned(values);
  for (uint32_t i = 0; good && i < count; ++i) {
    good = is_inner_constant(plan, values->Get(i)) &&
           is_name(names->Get(i), schema::kMaxTensorNameBytes) &&
           (i == 0 || values->Get(i - 1) < values->Get(i));
  }
  if (good) return Error::Ok;
  PETREL_LOG(Error, "method \"%.64s\": the names of constants in petrel.program are not right",
             plan.name().data());
  return Error::InvalidProgram;
}

bool is_weight(const add::Weight& weight) {
  if (!is_name(weight.key(), schema::kMaxTensorNameBytes)) return false;
  if (weight.sha256() != nullptr && weight.sha256()->size() != ProgramAdditions::kDigestSize) {
    return false;
  }
  for (uint32_t i = 0; weight.made_of() != nullptr && i < weight.made_of()->size(); ++i) {
    if (!is_name(weight.made_of()->Get(i), schema::kMaxTensorNameBytes)) return false;
  }
  if (weight.sizes() == nullptr || weight.dim_order() == nullptr) return true;
  return TensorLayout::create({weight.sizes()->data(), weight.sizes()->size()},
                              {weight.dim_order()->data(), weight.dim_order()->size()},
                              static_cast<ScalarType>(weight.scalar_type()))
      .ok();
}

Error verify_weights(const add::Additions& table) {
  std::string_view last;
  for (uint32_t i = 0; table.weights() != nullptr && i < table.weights()->size(); ++i) {
    const add::Weight& weight = *table.weights()->Get(i);
    if (!is_weight(weight)) {
      PETREL_LOG(Error, "weight %u that the program remembers has no key, layout, digest or source",
                 i);
      return Error::InvalidProgram;
    }
    const std::string_view key(weight.key()->c_str(), weight.key()->size());
    if (i > 0 && !(last < key)) {
      PETREL_LOG(Error, "weight %u that the program remembers is out of order", i);
      return Error::InvalidProgram;
    }
    last = key;
  }
  return Error::Ok;
}

Error verify_additions(const ProgramView& program, const FreeableBuffer& data) {
  if (data.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    PETREL_LOG(Error, "named data petrel.program has %zu bytes, must be below 2^31", data.size());
    return Error::InvalidProgram;
  }
  const Span<const uint8_t> bytes(static_cast<const uint8_t*>(data.data()), data.size());
  const TableCheck check = check_tables(bytes, schema::kAdditionsShape, add::AdditionsIdentifier());
  if (check == TableCheck::TooManyParts) {
    PETREL_LOG(Error,
               "named data petrel.program refers to its own parts too often: more than the %zu "
               "bytes it has",
               data.size());
    return Error::InvalidProgram;
  }
  if (check != TableCheck::Good) {
    PETREL_LOG(Error, "named data petrel.program is not a valid flatbuffer: it is damaged");
    return Error::InvalidProgram;
  }
  const add::Additions& table = *add::GetAdditions(bytes.data());
  if (table.version() != 0) {
    PETREL_LOG(Error, "named data petrel.program has version %u, the newest known is 0",
               table.version());
    return Error::NotSupported;
  }
  PETREL_RETURN_IF_ERROR(verify_weights(table));
  if (table.methods() == nullptr) return Error::Ok;
  const uint32_t num_methods = program.num_methods();
  if (table.methods()->size() != num_methods) {
    PETREL_LOG(Error, "named data petrel.program is for %u methods, but there are %u",
               table.methods()->size(), num_methods);
    return Error::InvalidProgram;
  }
  for (uint32_t i = 0; i < num_methods; ++i) {
    const MethodView plan = program.method(i);
    const add::MethodAdditions& additions = *table.methods()->Get(i);
    PETREL_RETURN_IF_ERROR(verify_least_sizes(plan, additions));
    PETREL_RETURN_IF_ERROR(verify_names(plan, additions));
    if (additions.scratch() == nullptr) continue;
    PETREL_RETURN_IF_ERROR(verify_scratch(plan, *additions.scratch()));
  }
  return Error::Ok;
}

}  // namespace

Result<ProgramAdditions> ProgramAdditions::load(const DataLoader& loader, uint64_t segment_base,
                                                const ProgramView& program) {
  ProgramAdditions result;
  std::optional<uint32_t> found;
  for (uint32_t i = 0; i < program.num_named_data(); ++i) {
    const NamedDataView entry = program.named_data(i);
    if (entry.key != schema::kAdditionsKey) continue;
    if (found.has_value()) {
      PETREL_LOG(Error, "the program has named data petrel.program twice");
      return Error::InvalidProgram;
    }
    found = entry.segment;
  }
  if (!found.has_value()) return result;
  PETREL_ASSIGN_OR_RETURN(
      result.data_, load_segment(loader, segment_base, program.segment(*found),
                                 DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Program,
                                                         *found, schema::kAdditionsKey)));
  PETREL_RETURN_IF_ERROR(verify_additions(program, result.data_));
  result.table_ = add::GetAdditions(result.data_.data());
  return result;
}

const add::MethodAdditions* ProgramAdditions::of(uint32_t method) const {
  if (table_ == nullptr || table_->methods() == nullptr) return nullptr;
  return table_->methods()->Get(method);
}

std::string_view ProgramAdditions::constant_name(uint32_t method, uint32_t value) const {
  const add::MethodAdditions* const additions = of(method);
  if (additions == nullptr || additions->named_values() == nullptr) return {};
  const auto& values = *additions->named_values();
  uint32_t begin = 0;
  uint32_t end = values.size();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (values.Get(middle) < value) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == values.size() || values.Get(begin) != value) return {};
  const flatbuffers::String* const name = additions->names()->Get(begin);
  return {name->c_str(), name->size()};
}

const char* ProgramAdditions::identifier() { return add::AdditionsIdentifier(); }

uint32_t ProgramAdditions::num_weights() const {
  return table_ == nullptr || table_->weights() == nullptr ? 0 : table_->weights()->size();
}

WeightView ProgramAdditions::weight(uint32_t index) const {
  if (index >= num_weights()) __builtin_trap();
  const add::Weight& from = *table_->weights()->Get(index);
  WeightView view;
  view.key = {from.key()->c_str(), from.key()->size()};
  view.has_layout = from.sizes() != nullptr && from.dim_order() != nullptr;
  if (view.has_layout) {
    view.scalar_type = static_cast<ScalarType>(from.scalar_type());
    view.sizes = {from.sizes()->data(), from.sizes()->size()};
    view.dim_order = {from.dim_order()->data(), from.dim_order()->size()};
  }
  view.bytes = from.bytes();
  if (from.sha256() != nullptr) view.digest = {from.sha256()->data(), from.sha256()->size()};
  return view;
}

uint32_t ProgramAdditions::num_sources(uint32_t index) const {
  if (index >= num_weights()) __builtin_trap();
  const auto* const names = table_->weights()->Get(index)->made_of();
  return names == nullptr ? 0 : names->size();
}

std::string_view ProgramAdditions::source(uint32_t index, uint32_t place) const {
  if (place >= num_sources(index)) __builtin_trap();
  const flatbuffers::String* const name = table_->weights()->Get(index)->made_of()->Get(place);
  return {name->c_str(), name->size()};
}

uint32_t ProgramAdditions::find_weight(std::string_view key) const {
  uint32_t begin = 0;
  uint32_t end = num_weights();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const std::string_view other = weight(middle).key;
    if (other == key) return middle;
    if (other < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return num_weights();
}

uint32_t ProgramAdditions::num_scratch(uint32_t method) const {
  const add::MethodAdditions* const additions = of(method);
  const Places* const places = additions == nullptr ? nullptr : additions->scratch();
  return places == nullptr ? 0 : places->size();
}

ScratchView ProgramAdditions::scratch(uint32_t method, uint32_t index) const {
  if (index >= num_scratch(method)) __builtin_trap();
  return view_of(*of(method)->scratch()->Get(index));
}

// Asked for every instruction when a method is loaded.
ScratchView ProgramAdditions::find_scratch(uint32_t method, uint32_t chain,
                                           uint32_t instruction) const {
  const add::MethodAdditions* const additions = of(method);
  const Places* const places = additions == nullptr ? nullptr : additions->scratch();
  const add::ScratchPlace* const place = find_in_order(places, order_of(chain, instruction));
  return place == nullptr ? ScratchView{} : view_of(*place);
}

int32_t ProgramAdditions::least_size(uint32_t method, size_t input, size_t dim) const {
  const add::MethodAdditions* const additions = of(method);
  if (additions == nullptr || input > UINT32_MAX || dim > UINT32_MAX) return 0;
  const add::LeastSize* const least = find_in_order(
      additions->least_sizes(), order_of(static_cast<uint32_t>(input), static_cast<uint32_t>(dim)));
  return least == nullptr ? 0 : least->size();
}

}  // namespace petrel::runtime
