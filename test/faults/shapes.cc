// SPDX-License-Identifier: Apache-2.0
#include "test/faults/shapes.h"

#include <string>
#include <string_view>

#include "schema/program_generated.h"

namespace petrel::faults {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
namespace fb = schema::program;
using Types = fb::KernelTypes;
using Arguments = fb::InstructionArguments;

// Parts of one method, made by a shape.
struct Parts {
  std::vector<Offset<fb::EValue>> values;
  std::vector<Offset<fb::Instruction>> instructions;
  std::vector<Offset<fb::BackendDelegate>> delegates;
  std::vector<Offset<fb::FrameList>> traces;
  std::vector<Offset<fb::Buffer>> constants;
  std::vector<Offset<fb::BackendDelegateInlineData>> payloads;
  std::vector<int64_t> arenas;
  std::vector<int32_t> outputs;
};

// Makes a file of about `units` * 100 bytes.
using Make = void (*)(FlatBufferBuilder& b, size_t units, Parts* parts);

Offset<fb::EValue> make_value(FlatBufferBuilder& b, fb::KernelTypes type, Offset<void> body) {
  return fb::CreateEValue(b, type, body);
}
Offset<fb::EValue> make_tensor(FlatBufferBuilder& b, const std::vector<int32_t>& sizes) {
  std::vector<uint8_t> order(sizes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint8_t>(i);
  return make_value(b, Types::Tensor,
                    fb::CreateTensorDirect(b, fb::ScalarType::FLOAT, 0, &sizes, &order).Union());
}
std::string text_of(size_t units) { return std::string(units * 50, 'a'); }
std::vector<uint8_t> bytes_of(size_t units) { return std::vector<uint8_t>(units * 50, 1); }
template <typename T>
void repeat(std::vector<Offset<T>>* list, size_t count, Offset<T> part) {
  list->insert(list->end(), count, part);
}

struct MadeShape {
  Shape shape;
  Make make;
};

const MadeShape kShapes[] = {
    {{"OneValue", true},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       repeat(&p->values, units * 25, make_tensor(b, std::vector<int32_t>(16, 1)));
     }},
    {{"OneText", true},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       const auto text = b.CreateString(text_of(units));
       for (size_t i = 0; i < units; ++i) {
         p->values.push_back(make_value(b, Types::String, fb::CreateString(b, text).Union()));
       }
     }},
    {{"OneList", true},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       p->values.push_back(make_value(b, Types::Null, fb::CreateNull(b).Union()));
       const auto items = b.CreateVector(std::vector<int32_t>(units * 12, -1));
       for (size_t i = 0; i < units; ++i) {
         p->values.push_back(make_value(b, Types::OptionalTensorList,
                                        fb::CreateOptionalTensorList(b, items).Union()));
       }
     }},
    {{"OneName", true},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       const auto name = b.CreateString(std::string(4000, 'n'));
       const auto sizes = b.CreateVector(std::vector<int32_t>{1});
       const auto order = b.CreateVector(std::vector<uint8_t>{0});
       const auto extra = fb::CreateExtraTensorInfo(b, 0, name, fb::TensorDataLocation::EXTERNAL);
       for (size_t i = 0; i < units; ++i) {
         const auto tensor = fb::CreateTensor(b, fb::ScalarType::FLOAT, 0, sizes, order, false, 0,
                                              0, 0, fb::TensorShapeDynamism::STATIC, extra);
         p->values.push_back(make_value(b, Types::Tensor, tensor.Union()));
       }
     }},
    {{"OneInstruction", true},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       repeat(&p->instructions, units * 25,
              fb::CreateInstruction(b, Arguments::MoveCall, fb::CreateMoveCall(b, 0, 0).Union()));
     }},
    {{"OneCompileSpec", true},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       const auto value = b.CreateVector(bytes_of(units));
       const auto spec = fb::CreateCompileSpec(b, b.CreateString("key"), value);
       const auto specs = b.CreateVector(std::vector<Offset<fb::CompileSpec>>(units, spec));
       const auto payload = fb::CreateBackendDelegateDataReference(b, fb::DataLocation::INLINE, 0);
       p->delegates.push_back(
           fb::CreateBackendDelegate(b, b.CreateString("Nobody"), payload, specs));
       p->payloads.push_back(fb::CreateBackendDelegateInlineData(b));
     }},
    {{"OneFrame", true},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       const auto frame = fb::CreateFrame(b, b.CreateString(text_of(units)));
       const auto frames =
           fb::CreateFrameList(b, b.CreateVector(std::vector<Offset<fb::Frame>>(units, frame)));
       p->traces.push_back(frames);
     }},
    {{"OneConstant", true},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       b.ForceVectorAlignment(units * 50, 1, 16);
       repeat(&p->constants, units, fb::CreateBuffer(b, b.CreateVector(bytes_of(units))));
     }},
    {{"OnePayload", true},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       b.ForceVectorAlignment(units * 50, 1, 16);
       repeat(&p->payloads, units,
              fb::CreateBackendDelegateInlineData(b, b.CreateVector(bytes_of(units))));
     }},
    {{"Arenas", true},
     [](FlatBufferBuilder&, size_t units, Parts* p) { p->arenas.resize(units * 12); }},
    {{"Outputs", true},
     [](FlatBufferBuilder&, size_t units, Parts* p) { p->outputs.resize(units * 25); }},
    // Six bytes are made of each of theirs.
    {{"Entries", true},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       const auto items = b.CreateVector(std::vector<int32_t>(units * 25, -1));
       p->values.push_back(make_value(b, Types::OptionalTensorList,
                                      fb::CreateOptionalTensorList(b, items).Union()));
     }},
    {{"Numbers", false},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       for (size_t i = 0; i < units * 3; ++i) {
         p->values.push_back(make_value(b, Types::Int, fb::CreateInt(b, 7).Union()));
       }
     }},
    {{"Tensors", false},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       for (size_t i = 0; i < units; ++i) p->values.push_back(make_tensor(b, {1, 1, 1, 1}));
     }},
    {{"Lists", false},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       p->values.push_back(make_tensor(b, {1}));
       for (size_t i = 0; i < units; ++i) {
         const auto items = b.CreateVector(std::vector<int32_t>(1, 0));
         p->values.push_back(
             make_value(b, Types::TensorList, fb::CreateTensorList(b, items).Union()));
       }
     }},
    {{"Texts", false},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       for (size_t i = 0; i < units; ++i) {
         const auto text = b.CreateString(std::string(60, 'a'));
         p->values.push_back(make_value(b, Types::String, fb::CreateString(b, text).Union()));
       }
     }},
    {{"Instructions", false},
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       p->values.push_back(make_value(b, Types::Int, fb::CreateInt(b, 7).Union()));
       for (size_t i = 0; i < units * 2; ++i) {
         const auto move = fb::CreateMoveCall(b, 0, 0).Union();
         p->instructions.push_back(fb::CreateInstruction(b, Arguments::MoveCall, move));
       }
     }},
};

}  // namespace

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const MadeShape& made : kShapes) all.push_back(made.shape);
  return all;
}

std::vector<uint8_t> build_shape(const Shape& shape, size_t units) {
  FlatBufferBuilder b;
  Parts parts;
  for (const MadeShape& made : kShapes) {
    if (std::string_view(made.shape.name) == shape.name) made.make(b, units, &parts);
  }
  if (parts.values.empty()) {
    parts.values.push_back(make_value(b, Types::Null, fb::CreateNull(b).Union()));
  }
  const auto values = b.CreateVector(parts.values);
  const auto instructions = b.CreateVector(parts.instructions);
  const auto traces = b.CreateVector(parts.traces);
  const auto chain = fb::CreateChain(b, 0, 0, instructions, traces);
  const auto chains = b.CreateVector(std::vector<Offset<fb::Chain>>{chain});
  const auto delegates = b.CreateVector(parts.delegates);
  const auto arenas = b.CreateVector(parts.arenas);
  const auto outputs = b.CreateVector(parts.outputs);
  const auto plan = fb::CreateExecutionPlan(b, b.CreateString("forward"), 0, values, 0, outputs,
                                            chains, 0, delegates, arenas);
  const auto plans = b.CreateVector(std::vector<Offset<fb::ExecutionPlan>>{plan});
  const auto constants = b.CreateVector(parts.constants);
  const auto payloads = b.CreateVector(parts.payloads);
  fb::FinishProgramBuffer(b, fb::CreateProgram(b, 0, plans, constants, payloads));
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

}  // namespace petrel::faults
