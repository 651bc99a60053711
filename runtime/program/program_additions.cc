// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_additions.h"

#include <algorithm>
#include <cinttypes>
#include <optional>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/core/named_data_map.h"
#include "runtime/program/flat_parts.h"
#include "runtime/program/segment.h"
#include "runtime/program/table_verifier.h"
#include "schema/additions_generated.h"
#include "schema/additions_shape.h"
#include "schema/formats.h"

namespace petrel::runtime {
namespace add = schema::additions;

namespace {

constexpr std::string_view kKey = schema::kAdditionsKey;

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
  const Span<const uint32_t> values = items_of(additions.named_values());
  bool good = values.size() == size_of(additions.names()) && is_aligned(additions.named_values());
  for (uint32_t i = 0; good && i < values.size(); ++i) {
    good = is_inner_constant(plan, values[i]) &&
           is_name(&entry(additions.names(), i), schema::kMaxTensorNameBytes) &&
           (i == 0 || values[i - 1] < values[i]);
  }
  if (good) return Error::Ok;
  PETREL_LOG(Error, "method \"%.64s\": the names of constants in petrel.program are not right",
             plan.name().data());
  return Error::InvalidProgram;
}

bool is_weight(const add::Weight& weight) {
  if (!is_name(weight.key(), schema::kMaxTensorNameBytes)) return false;
  if (weight.sha256() != nullptr && size_of(weight.sha256()) != ProgramAdditions::kDigestSize) {
    return false;
  }
  for (uint32_t i = 0; i < size_of(weight.made_of()); ++i) {
    if (!is_name(&entry(weight.made_of(), i), schema::kMaxTensorNameBytes)) return false;
  }
  if (weight.sizes() == nullptr || weight.dim_order() == nullptr) return true;
  return TensorLayout::create(items_of(weight.sizes()), items_of(weight.dim_order()),
                              static_cast<ScalarType>(weight.scalar_type()))
      .ok();
}

Error verify_weights(const add::Additions& table) {
  std::string_view last;
  for (uint32_t i = 0; i < size_of(table.weights()); ++i) {
    const add::Weight& weight = entry(table.weights(), i);
    if (!is_weight(weight)) {
      PETREL_LOG(Error, "weight %u that the program remembers has no key, layout, digest or source",
                 i);
      return Error::InvalidProgram;
    }
    const std::string_view key = text_of(weight.key());
    if (i > 0 && !(last < key)) {
      PETREL_LOG(Error, "weight %u that the program remembers is out of order", i);
      return Error::InvalidProgram;
    }
    last = key;
  }
  return Error::Ok;
}

Error verify_additions(const ProgramView& program, Span<const uint8_t> bytes) {
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    PETREL_LOG(Error, "named data petrel.program has %zu bytes, must be below 2^31", bytes.size());
    return Error::InvalidProgram;
  }
  const TableCheck check = check_tables(bytes, schema::kAdditionsShape, add::AdditionsIdentifier());
  if (check == TableCheck::TooManyParts) {
    PETREL_LOG(Error,
               "named data petrel.program refers to its own parts too often: more than the %zu "
               "bytes it has",
               bytes.size());
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
  if (size_of(table.methods()) != num_methods) {
    PETREL_LOG(Error, "named data petrel.program is for %u methods, but there are %u",
               size_of(table.methods()), num_methods);
    return Error::InvalidProgram;
  }
  for (uint32_t i = 0; i < num_methods; ++i) {
    const MethodView plan = program.method(i);
    const add::MethodAdditions& additions = entry(table.methods(), i);
    PETREL_RETURN_IF_ERROR(verify_least_sizes(plan, additions));
    PETREL_RETURN_IF_ERROR(verify_names(plan, additions));
    if (additions.scratch() == nullptr) continue;
    PETREL_RETURN_IF_ERROR(verify_scratch(plan, *additions.scratch()));
  }
  return Error::Ok;
}

}  // namespace

Error ProgramAdditions::load(const DataLoader& loader, uint64_t segment_base,
                             const ProgramView& program) {
  const uint32_t count = program.num_named_data();
  const uint32_t found = program.find_named_data(kKey);
  if (found == count) return Error::Ok;
  if (program.find_named_data(kKey, found + 1) != count) {
    PETREL_LOG(Error, "the program has named data petrel.program twice");
    return Error::InvalidProgram;
  }
  const uint32_t segment = program.named_data(found).segment;
  PETREL_RETURN_IF_ERROR(
      load_segment(loader, segment_base, program.segment(segment),
                   DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Program, segment,
                                           schema::kAdditionsKey),
                   &data_));
  PETREL_RETURN_IF_ERROR(verify_additions(program, bytes()));
  table_ = add::GetAdditions(data_.data());
  return Error::Ok;
}

const add::MethodAdditions* ProgramAdditions::of(uint32_t method) const {
  if (table_ == nullptr || table_->methods() == nullptr) return nullptr;
  return &entry(table_->methods(), method);
}

std::string_view ProgramAdditions::constant_name(uint32_t method, uint32_t value) const {
  const add::MethodAdditions* const additions = of(method);
  if (additions == nullptr) return {};
  const Span<const uint32_t> values = items_of(additions->named_values());
  const uint32_t* const found = std::lower_bound(values.begin(), values.end(), value);
  if (found == values.end() || *found != value) return {};
  return text_of(&entry(additions->names(), static_cast<uint32_t>(found - values.begin())));
}

const char* ProgramAdditions::identifier() { return add::AdditionsIdentifier(); }

uint32_t ProgramAdditions::num_weights() const {
  return table_ == nullptr ? 0 : size_of(table_->weights());
}

WeightView ProgramAdditions::weight(uint32_t index) const {
  const add::Weight& from = entry(table_->weights(), index);
  WeightView view;
  view.key = text_of(from.key());
  view.has_layout = from.sizes() != nullptr && from.dim_order() != nullptr;
  view.scalar_type = static_cast<ScalarType>(from.scalar_type());
  view.sizes = items_of(from.sizes());
  view.dim_order = items_of(from.dim_order());
  view.bytes = from.bytes();
  view.digest = items_of(from.sha256());
  return view;
}

uint32_t ProgramAdditions::num_sources(uint32_t index) const {
  return size_of(entry(table_->weights(), index).made_of());
}

std::string_view ProgramAdditions::source(uint32_t index, uint32_t place) const {
  return text_of(&entry(entry(table_->weights(), index).made_of(), place));
}

uint32_t ProgramAdditions::find_weight(std::string_view key) const {
  uint32_t begin = 0;
  uint32_t end = num_weights();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const int order = text_of(entry(table_->weights(), middle).key()).compare(key);
    if (order == 0) return middle;
    if (order < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return num_weights();
}

uint32_t ProgramAdditions::num_scratch(uint32_t method) const {
  const add::MethodAdditions* const additions = of(method);
  return additions == nullptr ? 0 : size_of(additions->scratch());
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
