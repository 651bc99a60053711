// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_additions.h"

#include <cinttypes>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/program/segment.h"
#include "runtime/program/text_check.h"
#include "schema/additions_generated.h"
#include "schema/program_generated.h"

namespace petrel::runtime {
namespace fb = schema::program;
namespace add = schema::additions;

namespace {

using Places = flatbuffers::Vector<const add::ScratchPlace*>;

uint64_t order_of(uint32_t chain, uint32_t instruction) {
  return uint64_t{chain} << 32 | instruction;
}

uint64_t order_of(const add::ScratchPlace& place) {
  return order_of(place.chain(), place.instruction());
}

bool is_kernel_call(const fb::ExecutionPlan& plan, const add::ScratchPlace& place) {
  if (place.chain() >= plan.chains()->size()) return false;
  const auto* const instructions = plan.chains()->Get(place.chain())->instructions();
  return instructions != nullptr && place.instruction() < instructions->size() &&
         instructions->Get(place.instruction())->instr_args_type() ==
             fb::InstructionArguments::KernelCall;
}

bool is_in_arena(const fb::ExecutionPlan& plan, const add::ScratchPlace& place) {
  const auto* const sizes = plan.non_const_buffer_sizes();
  return place.memory_id() != 0 && sizes != nullptr && place.memory_id() < sizes->size() &&
         in_bounds(place.offset(), place.size(),
                   static_cast<uint64_t>(sizes->Get(place.memory_id())));
}

Error verify_scratch(const fb::ExecutionPlan& plan, const Places& places) {
  const char* const method = plan.name()->c_str();
  if (!is_aligned(&places, alignof(add::ScratchPlace))) {
    PETREL_LOG(Error, "method \"%.64s\": the places of scratch are not aligned", method);
    return Error::InvalidProgram;
  }
  for (uint32_t i = 0; i < places.size(); ++i) {
    const add::ScratchPlace& place = *places.Get(i);
    const char* wrong = nullptr;
    if (!is_kernel_call(plan, place)) {
      wrong = "is for what is no kernel call";
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

bool is_inner_constant(const fb::ExecutionPlan& plan, uint32_t value) {
  if (value >= plan.values()->size()) return false;
  const fb::Tensor* const tensor = plan.values()->Get(value)->val_as_Tensor();
  return tensor != nullptr && tensor->data_buffer_idx() > 0 &&
         tensor->allocation_info() == nullptr &&
         (tensor->extra_tensor_info() == nullptr ||
          tensor->extra_tensor_info()->location() == fb::TensorDataLocation::SEGMENT);
}

Error verify_names(const fb::ExecutionPlan& plan, const add::MethodAdditions& additions) {
  const auto* const values = additions.named_values();
  const auto* const names = additions.names();
  const uint32_t count = values == nullptr ? 0 : values->size();
  bool good = count == (names == nullptr ? 0 : names->size()) && is_aligned(values);
  for (uint32_t i = 0; good && i < count; ++i) {
    good = is_inner_constant(plan, values->Get(i)) &&
           is_name(names->Get(i), kMaxTensorNameLength) &&
           (i == 0 || values->Get(i - 1) < values->Get(i));
  }
  if (good) return Error::Ok;
  PETREL_LOG(Error, "method \"%.64s\": the names of constants in petrel.program are not right",
             plan.name()->c_str());
  return Error::InvalidProgram;
}

Error verify_additions(const fb::Program& program, const FreeableBuffer& data) {
  const auto* const bytes = static_cast<const uint8_t*>(data.data());
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(data.size() / 4 + 1);
  if (data.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    PETREL_LOG(Error, "named data petrel.program has %zu bytes, must be below 2^31", data.size());
    return Error::InvalidProgram;
  }
  flatbuffers::Verifier verifier(bytes, data.size(), options);
  if (!add::VerifyAdditionsBuffer(verifier)) {
    PETREL_LOG(Error, "named data petrel.program is no valid flatbuffer: it is damaged");
    return Error::InvalidProgram;
  }
  const add::Additions& table = *add::GetAdditions(bytes);
  if (table.version() != 0) {
    PETREL_LOG(Error, "named data petrel.program has version %u, the newest known is 0",
               table.version());
    return Error::NotSupported;
  }
  if (table.methods() == nullptr) return Error::Ok;
  const uint32_t num_methods = program.execution_plan()->size();
  if (table.methods()->size() != num_methods) {
    PETREL_LOG(Error, "named data petrel.program is for %u methods, but there are %u",
               table.methods()->size(), num_methods);
    return Error::InvalidProgram;
  }
  for (uint32_t i = 0; i < num_methods; ++i) {
    const fb::ExecutionPlan& plan = *program.execution_plan()->Get(i);
    const add::MethodAdditions& additions = *table.methods()->Get(i);
    if (!is_aligned(additions.least_sizes(), alignof(add::LeastSize))) {
      PETREL_LOG(Error, "method \"%.64s\": the least sizes of inputs are not aligned",
                 plan.name()->c_str());
      return Error::InvalidProgram;
    }
    PETREL_RETURN_IF_ERROR(verify_names(plan, additions));
    if (additions.scratch() == nullptr) continue;
    PETREL_RETURN_IF_ERROR(verify_scratch(plan, *additions.scratch()));
  }
  return Error::Ok;
}

}  // namespace

Result<ProgramAdditions> ProgramAdditions::load(const DataLoader& loader, uint64_t segment_base,
                                                const fb::Program& program) {
  ProgramAdditions result;
  const fb::NamedData* found = nullptr;
  for (uint32_t i = 0; program.named_data() != nullptr && i < program.named_data()->size(); ++i) {
    const fb::NamedData* const entry = program.named_data()->Get(i);
    if (std::string_view(entry->key()->c_str(), entry->key()->size()) != kAdditionsKey) continue;
    if (found != nullptr) {
      PETREL_LOG(Error, "the program has named data petrel.program twice");
      return Error::InvalidProgram;
    }
    found = entry;
  }
  if (found == nullptr) return result;
  const uint32_t index = found->segment_index();
  PETREL_ASSIGN_OR_RETURN(
      result.data_, load_segment(loader, segment_base, *program.segments()->Get(index),
                                 DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Program,
                                                         index, kAdditionsKey.data())));
  PETREL_RETURN_IF_ERROR(verify_additions(program, result.data_));
  result.program_ = &program;
  result.table_ = add::GetAdditions(result.data_.data());
  return result;
}

const add::MethodAdditions* ProgramAdditions::of(const fb::ExecutionPlan& plan) const {
  if (table_ == nullptr || table_->methods() == nullptr) return nullptr;
  uint32_t index = 0;
  while (program_->execution_plan()->Get(index) != &plan) ++index;
  return table_->methods()->Get(index);
}

std::string_view ProgramAdditions::constant_name(const fb::ExecutionPlan& plan,
                                                 uint32_t value) const {
  const add::MethodAdditions* const additions = of(plan);
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

const add::ScratchPlace* ProgramAdditions::find_scratch(const fb::ExecutionPlan& plan,
                                                        uint32_t chain,
                                                        uint32_t instruction) const {
  const add::MethodAdditions* const additions = of(plan);
  const Places* const places = additions == nullptr ? nullptr : additions->scratch();
  if (places == nullptr) return nullptr;
  const uint64_t wanted = order_of(chain, instruction);
  uint32_t begin = 0;
  uint32_t end = places->size();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (order_of(*places->Get(middle)) < wanted) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == places->size() || order_of(*places->Get(begin)) != wanted) return nullptr;
  return places->Get(begin);
}

}  // namespace petrel::runtime
