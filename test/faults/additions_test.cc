// SPDX-License-Identifier: Apache-2.0
//
// Named data `petrel.program`: what is refused, and what kernels get from it.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernel/kernel.h"
#include "runtime/kernel/kernel_args.h"
#include "schema/additions_generated.h"
#include "test/faults/attack.h"
#include "test/faults/loaded.h"

namespace petrel::faults {
namespace {

namespace add = schema::additions;
using runtime::EValue;
using runtime::Kernel;
using runtime::KernelArgs;
using runtime::KernelRuntimeContext;
using runtime::Registry;

struct WeightRecipe {
  std::vector<std::string> keys = {"w"};
  std::vector<int32_t> sizes = {2, 3};
  std::vector<uint8_t> digest = std::vector<uint8_t>(32);
  std::vector<std::string> made_of = {};
};

struct AdditionsRecipe {
  uint32_t version = 0;
  // Of each method.
  std::vector<std::vector<add::ScratchPlace>> scratch = {{}};
  // Of the first.
  std::vector<add::LeastSize> least_sizes;
  std::vector<uint32_t> named_values;
  std::vector<std::string> names;
  // Of these keys.
  std::optional<WeightRecipe> weight;
};

std::vector<uint8_t> build(const AdditionsRecipe& recipe) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<add::MethodAdditions>> methods;
  for (const auto& places : recipe.scratch) {
    const bool is_first = methods.empty();
    methods.push_back(
        add::CreateMethodAdditions(builder, builder.CreateVectorOfStructs(places),
                                   is_first ? builder.CreateVectorOfStructs(recipe.least_sizes) : 0,
                                   is_first ? builder.CreateVector(recipe.named_values) : 0,
                                   is_first ? builder.CreateVectorOfStrings(recipe.names) : 0));
  }
  std::vector<flatbuffers::Offset<add::Weight>> weights;
  if (recipe.weight) {
    const std::vector<uint8_t> dim_order = {0, 1};
    for (const std::string& key : recipe.weight->keys) {
      const WeightRecipe& weight = *recipe.weight;
      const auto made_of = builder.CreateVectorOfStrings(weight.made_of);
      const auto name = builder.CreateString(key);
      weights.push_back(add::CreateWeight(builder, name, static_cast<int8_t>(fb::ScalarType::FLOAT),
                                          builder.CreateVector(weight.sizes),
                                          builder.CreateVector(dim_order), 24,
                                          builder.CreateVector(weight.digest), made_of));
    }
  }
  const auto method_vector = builder.CreateVector(methods);
  const auto weight_vector = builder.CreateVector(weights);
  add::FinishAdditionsBuffer(
      builder, add::CreateAdditions(builder, recipe.version, method_vector, weight_vector));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

void put(Recipe& recipe, std::vector<uint8_t> bytes) {
  recipe.named_data.emplace_back("petrel.program", static_cast<uint32_t>(recipe.segments.size()));
  recipe.segments.push_back(std::move(bytes));
}

void put_scratch(Recipe& recipe, std::vector<add::ScratchPlace> places) {
  AdditionsRecipe additions;
  additions.scratch = {std::move(places)};
  put(recipe, build(additions));
}

void put_names(Recipe& recipe, std::vector<uint32_t> values, std::vector<std::string> names) {
  AdditionsRecipe additions;
  additions.named_values = std::move(values);
  additions.names = std::move(names);
  put(recipe, build(additions));
}

void put_least_sizes(Recipe& recipe, std::vector<add::LeastSize> sizes) {
  AdditionsRecipe additions;
  additions.least_sizes = std::move(sizes);
  put(recipe, build(additions));
}

void put_weight(Recipe& recipe, WeightRecipe weight) {
  AdditionsRecipe additions;
  additions.weight = std::move(weight);
  put(recipe, build(additions));
}

// A recipe whose lines are one text.
void put_repeated_line(Recipe& recipe, size_t lines) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<flatbuffers::Offset<flatbuffers::String>> all(
      lines, builder.CreateString(std::string(1000, 'x')));
  const auto texts = builder.CreateVector(all);
  add::FinishAdditionsBuffer(builder, add::CreateAdditions(builder, 0, 0, 0, 0, texts));
  put(recipe, {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()});
}

// The constant of the recipe.
constexpr uint32_t kConstant = 1;

// Offset, size, chain, instruction, arena.
const Attack kAttacks[] = {
    {"Text",
     [](Recipe& r) {
       put(r, {'h', 'e', 'l', 'l', 'o'});
     },
     kInvalid, "damaged"},
    {"Nothing", [](Recipe& r) { put(r, {}); }, kInvalid, "damaged"},
    {"CutOff",
     [](Recipe& r) {
       put_scratch(r, {{0, 16, 0, 0, 1}});
       r.segments.back().resize(r.segments.back().size() - 16);
     },
     kInvalid, "damaged"},
    {"OneLineManyTimes", [](Recipe& r) { put_repeated_line(r, 100); }, kInvalid,
     "refers to its own parts too often"},
    {"OtherIdentifier",
     [](Recipe& r) {
       put_scratch(r, {});
       r.segments.back()[4] = 'X';
     },
     kInvalid, "damaged"},
    {"Newer",
     [](Recipe& r) {
       AdditionsRecipe additions;
       additions.version = 1;
       put(r, build(additions));
     },
     kUnsupported, "version 1"},
    {"MoreMethodsThanThereAre",
     [](Recipe& r) {
       AdditionsRecipe additions;
       additions.scratch = {{}, {}};
       put(r, build(additions));
     },
     kInvalid, "2 methods, but there are 1"},
    {"WeightMadeOfNothing",
     [](Recipe& r) {
       put_weight(r, {{"w"}, {2, 3}, std::vector<uint8_t>(32), {"v", ""}});
     },
     kInvalid, "weight 0 that the program remembers has no key, layout, digest or source"},
    {"WeightWithoutKey", [](Recipe& r) { put_weight(r, {{""}}); }, kInvalid,
     "weight 0 that the program remembers has no key, layout, digest or source"},
    {"WeightOfImpossibleSizes",
     [](Recipe& r) {
       put_weight(r, {{"w"}, {2, -3}});
     },
     kInvalid, "weight 0"},
    {"WeightOfAnotherRank",
     [](Recipe& r) {
       put_weight(r, {{"w"}, {2}});
     },
     kInvalid, "weight 0"},
    {"WeightWithAShortDigest",
     [](Recipe& r) {
       put_weight(r, {{"w"}, {2, 3}, std::vector<uint8_t>(31)});
     },
     kInvalid, "weight 0"},
    {"WeightsOutOfOrder",
     [](Recipe& r) {
       put_weight(r, {{"v", "w", "u"}});
     },
     kInvalid, "weight 2 that the program remembers is out of order"},
    {"WeightTwice",
     [](Recipe& r) {
       put_weight(r, {{"v", "v"}});
     },
     kInvalid, "weight 1 that the program remembers is out of order"},
    {"Twice",
     [](Recipe& r) {
       put_scratch(r, {});
       put_scratch(r, {});
     },
     kInvalid, "twice"},
    {"NoSuchChain",
     [](Recipe& r) {
       put_scratch(r, {{0, 16, 1, 0, 1}});
     },
     kInvalid, "instruction 1:0, is for an instruction that does not call a kernel"},
    {"NoSuchInstruction",
     [](Recipe& r) {
       put_scratch(r, {{0, 16, 0, 1, 1}});
     },
     kInvalid, "instruction 0:1, is for an instruction that does not call a kernel"},
    {"NotAKernel",
     [](Recipe& r) {
       add_instruction(r, Arguments::MoveCall, 2, 2);
       put_scratch(r, {{0, 16, 0, 1, 1}});
     },
     kInvalid, "not call a kernel"},
    {"ReservedArena",
     [](Recipe& r) {
       put_scratch(r, {{0, 16, 0, 0, 0}});
     },
     kInvalid, "arena 0 for instruction 0:0, is not in an arena"},
    {"NoSuchArena",
     [](Recipe& r) {
       put_scratch(r, {{0, 16, 0, 0, 2}});
     },
     kInvalid, "not in an arena"},
    {"PastTheArena",
     [](Recipe& r) {
       put_scratch(r, {{56, 9, 0, 0, 1}});
     },
     kInvalid, "scratch 0, 9 bytes at 56 of arena 1"},
    {"EndWrapsAround",
     [](Recipe& r) {
       put_scratch(r, {{~uint64_t{0}, 16, 0, 0, 1}});
     },
     kInvalid, "not in an arena"},
    {"TwiceForOneInstruction",
     [](Recipe& r) {
       put_scratch(r, {{0, 16, 0, 0, 1}, {32, 16, 0, 0, 1}});
     },
     kInvalid, "scratch 1, 16 bytes at 32 of arena 1 for instruction 0:0, is out of order"},
    {"LeastSizesOutOfOrder",
     [](Recipe& r) {
       put_least_sizes(r, {{0, 1, 2}, {0, 0, 2}});
     },
     kInvalid, "least sizes of inputs are not aligned or out of order"},
    {"LeastSizeTwice",
     [](Recipe& r) {
       put_least_sizes(r, {{0, 1, 2}, {0, 1, 3}});
     },
     kInvalid, "least sizes"},
    {"NameOfNoValue", [](Recipe& r) { put_names(r, {1000}, {"c"}); }, kInvalid, "names"},
    {"NameOfAnInput", [](Recipe& r) { put_names(r, {0}, {"x"}); }, kInvalid, "names"},
    {"NameTwice",
     [](Recipe& r) {
       put_names(r, {kConstant, kConstant}, {"c", "d"});
     },
     kInvalid, "names"},
    {"MoreNamesThanValues",
     [](Recipe& r) {
       put_names(r, {kConstant}, {"c", "d"});
     },
     kInvalid, "names"},
    {"MoreValuesThanNames", [](Recipe& r) { put_names(r, {kConstant}, {}); }, kInvalid, "names"},
    {"EmptyName", [](Recipe& r) { put_names(r, {kConstant}, {""}); }, kInvalid, "names"},
    {"NameWithNul", [](Recipe& r) { put_names(r, {kConstant}, {std::string("a\0b", 3)}); },
     kInvalid, "names"},
    {"NameOfAnExternalTensor",
     [](Recipe& r) {
       r.plans[0].values[kConstant].extra =
           ExtraRecipe{"c", fb::TensorDataLocation::EXTERNAL, fb::DeviceType::CPU};
       put_names(r, {kConstant}, {"c"});
     },
     kInvalid, "names"},
};

class AdditionsAttackTest : public ::testing::TestWithParam<Attack> {};

TEST_P(AdditionsAttackTest, IsRefusedAtLoad) {
  const QuietLog quiet;
  Recipe recipe;
  GetParam().change(recipe);
  const Report report = run(recipe);
  EXPECT_EQ(report.load, GetParam().error);
  EXPECT_NE(QuietLog::last().find(GetParam().words), std::string::npos) << QuietLog::last();
  EXPECT_EQ(report.leaked_buffers, 0);
}

INSTANTIATE_TEST_SUITE_P(All, AdditionsAttackTest, ::testing::ValuesIn(kAttacks),
                         [](const auto& info) { return std::string(info.param.name); });

// A kernel that asks for memory twice and remembers where it was.
size_t wanted[2];
void* given[2];

void ask(KernelRuntimeContext& context, Span<EValue*>) {
  for (size_t i = 0; i < 2; ++i) {
    given[i] = context.allocate_temp(wanted[i], 16).get();
  }
}

constexpr Kernel kAsking[] = {{"aten::add.out", &ask}};
Span<const Kernel> asking_kernels() { return kAsking; }

TEST(NamesTest, OfConstantsAreFoundByValue) {
  Recipe recipe;
  put_names(recipe, {kConstant}, {"c"});
  AlignedLoader loader(faults::build(recipe));
  const Result<Program> program = Program::load(&loader, ProgramOptions());
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->additions().constant_name(0, kConstant), "c");
  EXPECT_EQ(program->additions().constant_name(0, 0), "");
  EXPECT_EQ(program->additions().constant_name(0, 1000), "");
  EXPECT_EQ(program->additions().num_weights(), 0u);
}

TEST(LeastSizesTest, AreFoundByInputAndDim) {
  Recipe recipe;
  put_least_sizes(recipe, {{0, 0, 7}, {0, 2, 8}, {1, 1, 9}});
  Loaded loaded(recipe);
  const runtime::ProgramAdditions& additions = loaded.program().additions();
  const int32_t wanted[3][3] = {{7, 0, 8}, {0, 9, 0}, {0, 0, 0}};
  for (size_t input = 0; input < 3; ++input) {
    for (size_t dim = 0; dim < 3; ++dim) {
      EXPECT_EQ(additions.least_size(0, input, dim), wanted[input][dim]) << input << " " << dim;
    }
  }
  EXPECT_EQ(additions.least_size(0, size_t{1} << 32, 0), 0);
}

TEST(WeightsTest, AreWhatTheProgramRemembers) {
  Recipe recipe;
  put_weight(recipe, {});
  AlignedLoader loader(faults::build(recipe));
  const Result<Program> program = Program::load(&loader, ProgramOptions());
  ASSERT_TRUE(program.ok());
  ASSERT_EQ(program->additions().num_weights(), 1u);
  const runtime::WeightView weight = program->additions().weight(0);
  EXPECT_EQ(weight.key, "w");
  ASSERT_TRUE(weight.has_layout);
  EXPECT_EQ(weight.scalar_type, ScalarType::Float);
  EXPECT_EQ(std::vector<int32_t>(weight.sizes.begin(), weight.sizes.end()),
            (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(weight.bytes, 24u);
  EXPECT_EQ(weight.digest.size(), runtime::ProgramAdditions::kDigestSize);
  EXPECT_EQ(program->additions().find_weight("w"), 0u);
  for (const char* other : {"", "v", "ww"}) {
    EXPECT_EQ(program->additions().find_weight(other), 1u) << other;
  }
}

TEST(AdditionsTest, MayBeOfNoMethod) {
  flatbuffers::FlatBufferBuilder builder;
  add::FinishAdditionsBuffer(builder, add::CreateAdditions(builder));
  Recipe recipe;
  put(recipe, {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()});
  QuietLog quiet;
  Loaded loaded(recipe);
  EXPECT_TRUE(loaded.method().ok()) << QuietLog::last();
  EXPECT_EQ(loaded.program().additions().num_scratch(0), 0u);
  EXPECT_EQ(loaded.program().additions().constant_name(0, kConstant), "");
}

TEST(AdditionsTest, OfScratchMustBeAligned) {
  int num_aligned = 0;
  for (const bool shifted : {true, false}) {
    const add::ScratchPlace place(32, 16, 0, 0, 1);
    flatbuffers::FlatBufferBuilder builder;
    const auto* words = reinterpret_cast<const uint32_t*>(&place);
    constexpr size_t kWords = sizeof(place) / sizeof(uint32_t);
    const flatbuffers::Offset<flatbuffers::Vector<const add::ScratchPlace*>> places(
        builder.CreateVector(words, kWords).o);
    // Twelve bytes before it.
    if (shifted) builder.CreateVector<uint32_t>({0, 0});
    const auto methods = builder.CreateVector({add::CreateMethodAdditions(builder, places)});
    add::FinishAdditionsBuffer(builder, add::CreateAdditions(builder, 0, methods));
    std::vector<uint8_t> bytes(builder.GetBufferPointer(),
                               builder.GetBufferPointer() + builder.GetSize());
    const auto* const first = reinterpret_cast<const uint8_t*>(&place);
    const auto found = std::search(bytes.begin(), bytes.end(), first, first + sizeof(place));
    ASSERT_NE(found, bytes.end());
    const bool is_aligned = (found - bytes.begin()) % 8 == 0;
    *(found - 4) = 1;  // the words are those of one place
    Recipe recipe;
    recipe.plans[0].arenas[1] = 128;
    recipe.plans[0].values[3].place->offset = 64;
    put(recipe, bytes);
    QuietLog quiet;
    const Report report = faults::run(recipe);
    EXPECT_EQ(report.load, is_aligned ? Error::Ok : Error::InvalidProgram) << QuietLog::last();
    if (!is_aligned) {
      EXPECT_NE(QuietLog::last().find("scratch are not aligned"), std::string::npos);
    }
    num_aligned += is_aligned;
  }
  EXPECT_EQ(num_aligned, 1);
}

class ScratchTest : public ::testing::Test {
 protected:
  void run(const Recipe& recipe, size_t first, size_t second) {
    wanted[0] = first;
    wanted[1] = second;
    static constexpr runtime::KernelLibrary kLibraries[] = {&asking_kernels};
    const Registry registry(kLibraries, {});
    ProgramOptions options;
    options.registry = &registry;
    AlignedLoader loader(faults::build(recipe));
    Result<Program> program = Program::load(&loader, options);
    ASSERT_TRUE(program.ok());
    BlockAllocator allocator(nullptr);
    runtime::MemoryAllocator temp(sizeof(temp_), temp_);
    Span<uint8_t> arena(arena_, sizeof(arena_));
    HierarchicalAllocator planned({&arena, 1});
    MemoryManager memory(&allocator, &planned, &temp);
    Result<Method> method = program->load_method("forward", &memory);
    ASSERT_TRUE(method.ok());
    ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok);
  }

  alignas(16) uint8_t arena_[128] = {};
  alignas(16) uint8_t temp_[256];
  Input input_;
};

TEST_F(ScratchTest, IsWhatKernelsGetFirst) {
  Recipe recipe;
  recipe.plans[0].arenas[1] = 128;
  put_scratch(recipe, {{64, 64, 0, 0, 1}});
  run(recipe, 20, 32);
  EXPECT_EQ(given[0], arena_ + 64);
  EXPECT_EQ(given[1], arena_ + 96);
}

TEST_F(ScratchTest, LeavesTheRestToTheTemporaryAllocator) {
  Recipe recipe;
  recipe.plans[0].arenas[1] = 128;
  put_scratch(recipe, {{64, 64, 0, 0, 1}});
  run(recipe, 64, 1);
  EXPECT_EQ(given[0], arena_ + 64);
  EXPECT_EQ(given[1], temp_);
  run(recipe, 65, 64);
  EXPECT_EQ(given[0], temp_);
  EXPECT_EQ(given[1], arena_ + 64);
}

TEST_F(ScratchTest, LiesApartFromTheArguments) {
  for (const uint32_t offset : {0u, 16u, 32u, 48u}) {
    QuietLog quiet;
    Recipe recipe;
    put_scratch(recipe, {{offset, 16, 0, 0, 1}});
    EXPECT_EQ(Loaded(recipe).method().error(), Error::InvalidProgram) << offset;
    EXPECT_NE(QuietLog::last().find("scratch memory of instruction 0:0, aten::add.out"),
              std::string::npos)
        << QuietLog::last();
  }
}

// The output is a number, so that no argument is compared with another one.
TEST_F(ScratchTest, LiesApartFromMoreValuesThanCanBeCompared) {
  QuietLog quiet;
  Recipe recipe;
  recipe.plans[0].arenas[1] = 128;
  auto& chain = recipe.plans[0].chains[0];
  for (int32_t i = 4; i < 44; ++i) {
    add_value(recipe, planned_tensor({2, 3}, 0));
    add_instruction(recipe, Arguments::MoveCall, i, i < 24 ? 4 : 24);
  }
  add_instruction(recipe, Arguments::MoveCall, 4, 24);
  call(recipe).args = {4, 1, 2, 2, 2};
  put_scratch(recipe, {{64, 16, 0, 0, 1}});
  ASSERT_EQ(chain.size(), 42u);
  EXPECT_EQ(Loaded(recipe).method().error(), Error::NotSupported);
  EXPECT_NE(QuietLog::last().find("more than 32 others"), std::string::npos) << QuietLog::last();
}

TEST_F(ScratchTest, IsAbsentInOtherPrograms) {
  run(Recipe(), 16, 16);
  EXPECT_EQ(given[0], temp_);
  EXPECT_EQ(given[1], temp_ + 16);
}

TEST(AdditionsTest, AreNoNamedData) {
  Recipe recipe;
  put_scratch(recipe, {});
  EXPECT_EQ(Loaded(recipe).program().get_named_data_map().error(), Error::NotFound);

  recipe.named_data.emplace(recipe.named_data.begin(), "a", 0);
  recipe.named_data.emplace_back("z", 0);
  Loaded loaded(recipe);
  const NamedDataMap& map = **loaded.program().get_named_data_map();
  EXPECT_EQ(map.get_num_keys().get(), 2u);
  EXPECT_STREQ(map.get_key(0).get(), "a");
  EXPECT_STREQ(map.get_key(1).get(), "z");
  EXPECT_EQ(map.get_data("petrel.program").error(), Error::NotFound);
  EXPECT_EQ(map.find_place("petrel.program", 40).error(), Error::NotFound);
  EXPECT_TRUE(map.get_data("z").ok());
  const QuietLog quiet;
  EXPECT_EQ(map.get_key(2).error(), Error::InvalidArgument);
}

}  // namespace
}  // namespace petrel::faults
