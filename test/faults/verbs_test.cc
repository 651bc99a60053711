// SPDX-License-Identifier: Apache-2.0
//
// The verbs that read programs, on programs whose lists are absent or that are
// odd in another way: each ends with an answer or an error, and all of them
// agree with `verify` on whether the file is a program.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "test/faults/attack.h"

namespace petrel::faults {
namespace {

std::string in_temporary_folder(const std::string& name) { return ::testing::TempDir() + name; }

// The exit code of the command, whose output goes to `to`; -1 if a signal ended it.
int exit_code_of(const std::string& arguments, const std::string& to = "/dev/null") {
  const std::string command = "extension/cli/petrel " + arguments + " >" + to + " 2>&1";
  const int status = std::system(command.c_str());
  // A shell adds 128 to the signal that ended its command.
  return WIFEXITED(status) && WEXITSTATUS(status) < 128 ? WEXITSTATUS(status) : -1;
}

struct Odd {
  const char* name;
  void (*change)(Recipe&);
  // What `verify` says; and when the lists are absent, if that differs.
  int code;
  int code_if_absent = -1;
};

void PrintTo(const Odd& odd, std::ostream* out) { *out << odd.name; }

// No instruction reads what is not there any more.
void leave_out_instructions(Recipe& r) {
  plan(r).chains = {{}};
  plan(r).operators.clear();
}

const Odd kOdd[] = {
    {"NothingAbsent", [](Recipe&) {}, 0},
    {"Inputs", [](Recipe& r) { plan(r).inputs.clear(); }, 0},
    {"Outputs", [](Recipe& r) { plan(r).outputs.clear(); }, 0},
    {"Delegates", [](Recipe& r) { plan(r).delegates.clear(); }, 0},
    {"Operators", [](Recipe& r) { leave_out_instructions(r); }, 0},
    {"Arguments", [](Recipe& r) { call(r).args.clear(); }, 0},
    {"Instructions", [](Recipe& r) { plan(r).chains = {{}}; }, 0},
    {"OneChainWithout", [](Recipe& r) { plan(r).chains.push_back({}); }, 0},
    {"Chains", [](Recipe& r) { plan(r).chains.clear(); }, 1},
    {"Values",
     [](Recipe& r) {
       leave_out_instructions(r);
       plan(r).values.clear();
       plan(r).inputs.clear();
       plan(r).outputs.clear();
     },
     0, 1},
    {"Arenas",
     [](Recipe& r) {
       plan(r).arenas.clear();
       input(r).place.reset();
       output(r).place.reset();
     },
     0},
    {"Methods", [](Recipe& r) { r.plans.clear(); }, 0, 1},
    {"Segments",
     [](Recipe& r) {
       leave_out_instructions(r);
       r.segments.clear();
       r.constants.reset();
       constant(r).constant = 0;
     },
     0},
    {"ConstantsOfASegment",
     [](Recipe& r) {
       leave_out_instructions(r);
       r.constants = EntriesRecipe{99, {}};
       constant(r).constant = 0;
     },
     0},
    {"EverythingThatMayBe",
     [](Recipe& r) {
       PlanRecipe nothing;
       nothing.values = {number_value(Types::Null, 0)};
       nothing.chains = {{}};
       r.plans = {nothing};
       r.segments.clear();
       r.constants.reset();
     },
     0},
    {"ItemsOfLists",
     [](Recipe& r) {
       for (const Types type : {Types::IntList, Types::DoubleList, Types::BoolList,
                                Types::TensorList, Types::OptionalTensorList}) {
         add_value(r, list_value(type, {}));
         call(r).args.push_back(static_cast<int32_t>(plan(r).values.size() - 1));
       }
     },
     0},
    {"CompileSpecs",
     [](Recipe& r) { add_delegate(r, [](auto& d) {
                       d.specs = {{"key", ""}, {"", ""}};
                     }); },
     1},  // The payload is not one of XNNPACK.
    {"OldConstantsWithoutBytes",
     [](Recipe& r) {
       r.constants.reset();
       r.constant_buffers = {{}, {}};
       constant(r).sizes = {0};
       leave_out_instructions(r);
     },
     0},
    // Readers must not differ on which of two declarations counts.
    {"ConstantsTwice",
     [](Recipe& r) {
       r.constant_buffers = {{}, std::vector<uint8_t>(12)};
     },
     1},
    {"ConstantsInBuffersAndAnUnknownSegment",
     [](Recipe& r) {
       r.constants = EntriesRecipe{99, {}};
       r.constant_buffers = {{}, std::vector<uint8_t>(12)};
     },
     0},
    {"MovedFromATensorWithoutMemory",
     [](Recipe& r) {
       plan(r).inputs.clear();
       ValueRecipe nowhere = planned_tensor({2, 3}, 0);
       nowhere.place.reset();
       add_value(r, nowhere);
       add_instruction(r, Arguments::MoveCall, 4, 3);
     },
     0},
    {"ReservedEntryOfConstantBuffers", [](Recipe& r) { r.constant_buffers = {{}}; }, 0},
};

class VerbsTest : public ::testing::TestWithParam<Odd> {};

TEST_P(VerbsTest, EndWithAnAnswer) {
  for (const bool absent : {false, true}) {
    Recipe recipe;
    GetParam().change(recipe);
    recipe.without_empty_lists = absent;
    const std::vector<uint8_t> bytes = build(recipe);
    const std::string file = in_temporary_folder("odd.pte");
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    const Odd& odd = GetParam();
    const int code = absent && odd.code_if_absent != -1 ? odd.code_if_absent : odd.code;
    const auto run_verb = [&](const std::string& verb, const std::string& more = "") {
      return exit_code_of(verb + " " + file + " " + more);
    };
    SCOPED_TRACE(absent ? "empty lists are absent" : "empty lists are there");
    EXPECT_EQ(run_verb("verify"), code);
    EXPECT_EQ(run_verb("inspect"), code);
    EXPECT_EQ(run_verb("inspect", "--json"), code);
    const std::string picture = in_temporary_folder("odd.svg");
    EXPECT_NE(run_verb("inspect", "--plan-svg " + picture), -1);
    EXPECT_NE(run_verb("data list"), -1);
    EXPECT_NE(run_verb("data split", "-o " + in_temporary_folder("out.pte") + " --to " +
                                         in_temporary_folder("out.ptd")),
              -1);
    EXPECT_NE(run_verb("run", "--output-dir " + in_temporary_folder("outputs")), -1);
    EXPECT_NE(run_verb("bench"), -1);
  }
}

std::string written(const Recipe& recipe, const char* name) {
  const std::vector<uint8_t> bytes = build(recipe);
  const std::string file = in_temporary_folder(name);
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file;
}

// Each of them would be hashed, all over the same bytes.
TEST(DataVerbsTest, RefuseConstantsThatShareTooManyBytes) {
  constexpr int32_t kElements = 1 << 16;
  Recipe recipe;
  recipe.segments[recipe.constants->segment].resize(kElements * sizeof(float));
  for (uint32_t i = 0; i < 6000; ++i) {
    ValueRecipe value = constant(recipe);
    value.sizes = {kElements};
    value.constant = static_cast<uint32_t>(recipe.constants->offsets.size());
    recipe.constants->offsets.push_back(0);
    add_value(recipe, value);
  }
  const std::string file = written(recipe, "shared.pte");
  EXPECT_EQ(exit_code_of("verify " + file), 0);
  EXPECT_EQ(exit_code_of("data list " + file), 1);
}

// What the command says.
std::string said_by(const std::string& arguments) {
  const std::string to = in_temporary_folder("said");
  exit_code_of(arguments, to);
  std::ifstream file(to, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Each of the 40,000 read 16 MB.
TEST(PayloadsTest, AreReadOnceWhoeverHasThem) {
  Recipe recipe;
  recipe.segments.emplace_back(16 << 20);
  const auto segment = static_cast<uint32_t>(recipe.segments.size() - 1);
  for (int i = 0; i < 20000; ++i) {
    add_delegate(recipe, [&](DelegateRecipe& d) {
      d.id = "OtherBackend";
      d.index = segment;
    });
  }
  recipe.plans.push_back(plan(recipe));
  recipe.plans[1].name = "again";
  const std::string file = written(recipe, "payloads.pte");
  EXPECT_EQ(exit_code_of("verify " + file), 0);
  const std::string said = said_by("inspect --json " + file);
  EXPECT_NE(said.find("as of delegate 0 of method 0"), std::string::npos);
  // Who says that it is another's does not keep it from being looked at.
  recipe.plans.pop_back();
  plan(recipe).delegates.resize(2);
  plan(recipe).delegates[1].id = "XnnpackBackend";
  EXPECT_EQ(exit_code_of("verify " + written(recipe, "two_backends.pte")), 1);
}

// Each of them is copied and hashed.
TEST(OutputsTest, PayForEachTimeThatTheyAreNamed) {
  Recipe recipe;
  const int32_t first = plan(recipe).outputs.at(0);
  plan(recipe).outputs.assign(100, first);
  const std::string file = written(recipe, "outputs.pte");
  EXPECT_EQ(exit_code_of("run " + file + " --max-input-bytes 2400"), 0);
  EXPECT_EQ(exit_code_of("run " + file + " --max-input-bytes 2399"), 1);
  EXPECT_NE(said_by("run " + file + " --max-input-bytes 2399")
                .find("output 99 has 24 bytes, of 2399 of max_input_bytes are left 23"),
            std::string::npos);
}

TEST(LimitsOfVerbsTest, AreOptions) {
  Recipe recipe;
  input(recipe).place.reset();
  const std::string file = written(recipe, "limited.pte");
  EXPECT_EQ(exit_code_of("run " + file), 0);
  EXPECT_EQ(exit_code_of("run " + file + " --max-input-bytes 24"), 0);
  EXPECT_EQ(exit_code_of("run " + file + " --max-input-bytes 23"), 1);
  EXPECT_EQ(exit_code_of("run " + file + " --max-arena-bytes 63"), 1);
  const std::string picture = " --plan-svg " + in_temporary_folder("less.svg");
  for (const auto& [verb, more] : std::initializer_list<std::pair<std::string, std::string>>{
           {"verify ", ""}, {"inspect ", ""}, {"inspect ", picture}, {"data list ", ""}}) {
    EXPECT_EQ(exit_code_of(verb + file + more + " --max-arena-bytes 64"), 0) << verb << more;
    EXPECT_EQ(exit_code_of(verb + file + more + " --max-arena-bytes 63"), 1) << verb << more;
    EXPECT_NE(exit_code_of(verb + file + more + " --max-instructions 9"), 0) << verb << more;
  }
  EXPECT_EQ(exit_code_of("bench " + file + " --max-element-operations 5"), 1);
  EXPECT_NE(exit_code_of("run " + file + " --max-arena-bytes few"), 0);
}

INSTANTIATE_TEST_SUITE_P(Absent, VerbsTest, ::testing::ValuesIn(kOdd),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace petrel::faults
