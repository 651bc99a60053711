// SPDX-License-Identifier: Apache-2.0
//
// Memory that loading a program and looking into it take, by doubling the file:
// lines that are straight and not steep, whatever the file says. Refused shapes
// name one part again and again; accepted ones have as many parts as bytes allow.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "test/faults/attack.h"
#include "test/faults/loaded.h"

namespace petrel::faults {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// Parts of one method, made by a shape.
struct Parts {
  std::vector<Offset<fb::EValue>> values;
  std::vector<Offset<fb::Instruction>> instructions;
  std::vector<Offset<fb::BackendDelegate>> delegates;
  std::vector<Offset<fb::FrameList>> traces;
  std::vector<Offset<fb::Buffer>> constants;
  std::vector<Offset<fb::BackendDelegateInlineData>> payloads;
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

struct Shape {
  const char* name;
  Make make;
  bool is_refused;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

const Shape kShapes[] = {
    {"OneValue",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       repeat(&p->values, units * 25, make_tensor(b, std::vector<int32_t>(16, 1)));
     },
     true},
    {"OneText",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       const auto text = b.CreateString(text_of(units));
       for (size_t i = 0; i < units; ++i) {
         p->values.push_back(make_value(b, Types::String, fb::CreateString(b, text).Union()));
       }
     },
     true},
    {"OneList",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       p->values.push_back(make_value(b, Types::Null, fb::CreateNull(b).Union()));
       const auto items = b.CreateVector(std::vector<int32_t>(units * 12, -1));
       for (size_t i = 0; i < units; ++i) {
         p->values.push_back(make_value(b, Types::OptionalTensorList,
                                        fb::CreateOptionalTensorList(b, items).Union()));
       }
     },
     true},
    {"OneName",
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
     },
     true},
    {"OneInstruction",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       repeat(&p->instructions, units * 25,
              fb::CreateInstruction(b, Arguments::MoveCall, fb::CreateMoveCall(b, 0, 0).Union()));
     },
     true},
    {"OneCompileSpec",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       const auto value = b.CreateVector(bytes_of(units));
       const auto spec = fb::CreateCompileSpec(b, b.CreateString("key"), value);
       const auto specs = b.CreateVector(std::vector<Offset<fb::CompileSpec>>(units, spec));
       const auto payload = fb::CreateBackendDelegateDataReference(b, fb::DataLocation::INLINE, 0);
       p->delegates.push_back(
           fb::CreateBackendDelegate(b, b.CreateString("Nobody"), payload, specs));
       p->payloads.push_back(fb::CreateBackendDelegateInlineData(b));
     },
     true},
    {"OneFrame",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       const auto frame = fb::CreateFrame(b, b.CreateString(text_of(units)));
       const auto frames =
           fb::CreateFrameList(b, b.CreateVector(std::vector<Offset<fb::Frame>>(units, frame)));
       p->traces.push_back(frames);
     },
     true},
    {"OneConstant",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       b.ForceVectorAlignment(units * 50, 1, 16);
       repeat(&p->constants, units, fb::CreateBuffer(b, b.CreateVector(bytes_of(units))));
     },
     true},
    {"OnePayload",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       b.ForceVectorAlignment(units * 50, 1, 16);
       repeat(&p->payloads, units,
              fb::CreateBackendDelegateInlineData(b, b.CreateVector(bytes_of(units))));
     },
     true},
    {"Numbers",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       for (size_t i = 0; i < units * 3; ++i) {
         p->values.push_back(make_value(b, Types::Int, fb::CreateInt(b, 7).Union()));
       }
     },
     false},
    {"Tensors",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       for (size_t i = 0; i < units; ++i) p->values.push_back(make_tensor(b, {1, 1, 1, 1}));
     },
     false},
    {"Lists",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       p->values.push_back(make_tensor(b, {1}));
       for (size_t i = 0; i < units; ++i) {
         const auto items = b.CreateVector(std::vector<int32_t>(12, 0));
         p->values.push_back(
             make_value(b, Types::TensorList, fb::CreateTensorList(b, items).Union()));
       }
     },
     false},
    {"Texts",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       for (size_t i = 0; i < units; ++i) {
         const auto text = b.CreateString(std::string(60, 'a'));
         p->values.push_back(make_value(b, Types::String, fb::CreateString(b, text).Union()));
       }
     },
     false},
    {"Instructions",
     [](FlatBufferBuilder& b, size_t units, Parts* p) {
       p->values.push_back(make_value(b, Types::Int, fb::CreateInt(b, 7).Union()));
       for (size_t i = 0; i < units * 2; ++i) {
         const auto move = fb::CreateMoveCall(b, 0, 0).Union();
         p->instructions.push_back(fb::CreateInstruction(b, Arguments::MoveCall, move));
       }
     },
     false},
};

std::vector<uint8_t> build_shape(Make make, size_t units) {
  FlatBufferBuilder b;
  Parts parts;
  make(b, units, &parts);
  if (parts.values.empty()) {
    parts.values.push_back(make_value(b, Types::Null, fb::CreateNull(b).Union()));
  }
  const auto values = b.CreateVector(parts.values);
  const auto instructions = b.CreateVector(parts.instructions);
  const auto traces = b.CreateVector(parts.traces);
  const auto chain = fb::CreateChain(b, 0, 0, instructions, traces);
  const auto chains = b.CreateVector(std::vector<Offset<fb::Chain>>{chain});
  const auto delegates = b.CreateVector(parts.delegates);
  const auto plan =
      fb::CreateExecutionPlan(b, b.CreateString("forward"), 0, values, 0, 0, chains, 0, delegates);
  const auto plans = b.CreateVector(std::vector<Offset<fb::ExecutionPlan>>{plan});
  const auto constants = b.CreateVector(parts.constants);
  const auto payloads = b.CreateVector(parts.payloads);
  fb::FinishProgramBuffer(b, fb::CreateProgram(b, 0, plans, constants, payloads));
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

// Written by another process, so that this one stays small: what a child has used
// at most begins with what its parent had.
size_t write_shape(Make make, size_t units, const std::string& path) {
  const pid_t writer = fork();
  if (writer == 0) {
    const std::vector<uint8_t> bytes = build_shape(make, units);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    _exit(0);
  }
  int status = 0;
  waitpid(writer, &status, 0);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  return static_cast<size_t>(file.tellg());
}

struct Peak {
  double bytes;
  int code;
};

// Of the command.
Peak peak_of(const std::vector<std::string>& words) {
  std::vector<std::string> arguments = {"extension/cli/petrel"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int to : {1, 2}) {
    posix_spawn_file_actions_addopen(&actions, to, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  return {static_cast<double>(usage.ru_maxrss) * 1024,
          WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

class MemoryTest : public ::testing::TestWithParam<Shape> {};

// Bytes of memory for each byte by which the file grows. The command describes a
// program as JSON, a line of text for each part.
TEST_P(MemoryTest, OfTheCommandGrowsWithTheFile) {
  const std::string path = ::testing::TempDir() + "shape.pte";
  const struct {
    std::vector<std::string> verb;
    double most;
  } rows[] = {
      {{"verify", path}, 4},
      {{"inspect", path}, GetParam().is_refused ? 4.0 : 12.0},
      {{"data", "list", path}, GetParam().is_refused ? 4.0 : 8.0},
  };
  for (const auto& row : rows) {
    double size[3], peak[3];
    for (int i = 0; i < 3; ++i) {
      size[i] = static_cast<double>(write_shape(GetParam().make, size_t{20'000} << i, path));
      const Peak measured = peak_of(row.verb);
      peak[i] = measured.bytes;
      EXPECT_EQ(measured.code, GetParam().is_refused ? 1 : 0) << row.verb[0];
    }
    for (int i = 0; i < 2; ++i) {
      const double slope = (peak[i + 1] - peak[i]) / (size[i + 1] - size[i]);
      EXPECT_LE(slope, row.most) << row.verb[0] << " of " << size[i + 1] << " bytes";
      std::printf("%s %s: %.1f bytes for each byte beyond %.1f MB\n", GetParam().name,
                  row.verb[0].c_str(), slope, size[i] / 1e6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MemoryTest, ::testing::ValuesIn(kShapes),
                         [](const auto& info) { return std::string(info.param.name); });

// Adds up what a method takes.
class CountingAllocator final : public runtime::MemoryAllocator {
 public:
  CountingAllocator() : MemoryAllocator(0, nullptr) {}
  ~CountingAllocator() override { reset(); }
  void* allocate(size_t size, size_t alignment) override {
    bytes += size;
    blocks_.push_back(
        std::aligned_alloc(std::max<size_t>(alignment, 16), (size + alignment + 15) / 16 * 16));
    return blocks_.back();
  }
  void reset() override {
    for (void* block : blocks_) std::free(block);
    blocks_.clear();
  }
  size_t bytes = 0;

 private:
  std::vector<void*> blocks_;
};

class MethodMemoryTest : public ::testing::TestWithParam<Shape> {};

TEST_P(MethodMemoryTest, IsAFewTimesTheFile) {
  if (GetParam().is_refused) return;
  for (const size_t units : {1000u, 2000u, 4000u}) {
    const std::vector<uint8_t> bytes = build_shape(GetParam().make, units);
    const AlignedLoader loader(bytes);
    ProgramOptions options;
    options.registry = &test_registry();
    const Result<Program> program = Program::load(const_cast<AlignedLoader*>(&loader), options);
    ASSERT_TRUE(program.ok());
    CountingAllocator allocator;
    MemoryManager memory(&allocator);
    const Result<Method> method = program->load_method("forward", &memory);
    ASSERT_TRUE(method.ok());
    const double times = static_cast<double>(allocator.bytes) / static_cast<double>(bytes.size());
    EXPECT_LE(times, 4.0) << bytes.size();
    std::printf("%s: %.1f times %zu bytes\n", GetParam().name, times, bytes.size());
  }
}

INSTANTIATE_TEST_SUITE_P(All, MethodMemoryTest, ::testing::ValuesIn(kShapes),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace petrel::faults
