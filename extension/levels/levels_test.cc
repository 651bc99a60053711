// SPDX-License-Identifier: Apache-2.0
#include "extension/levels/levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/emit/emit.h"
#include "exir/ir/program.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "extension/data_loader/buffer_data_loader.h"
#include "extension/levels/level_arrays.h"

namespace petrel::extension {
namespace {

using exir::Argument;
using runtime::Error;
using runtime::ScalarType;
using ::testing::HasSubstr;

using Numbers = std::map<std::string, Argument>;

// A method @forward(%x: i8[2]) that returns its input, and methods of one number each.
class Told {
 public:
  explicit Told(
      const Numbers& numbers,
      const std::function<void(exir::Method&)>& change_scale = [](exir::Method&) {}) {
    exir::Program program;
    auto forward = std::make_unique<exir::Graph>("forward");
    const auto type = exir::TensorType::contiguous(exir::ScalarType::kChar, {2});
    forward->set_outputs({forward->add_input(exir::Type(type), "x")});
    program.methods["forward"].graph = std::move(forward);
    for (const auto& [name, number] : numbers) {
      exir::Method& method = program.methods[name];
      method.graph = std::make_unique<exir::Graph>(name);
      method.signature.fixed_outputs.emplace(0, number);
    }
    const auto scale = program.methods.find("forward_input0_scale");
    if (scale != program.methods.end()) change_scale(scale->second);
    bytes_ = exir::emit_to_memory(program).value();
    memory_.resize(bytes_.size() / sizeof(uint64_t) + 1);
    std::copy(bytes_.begin(), bytes_.end(), reinterpret_cast<char*>(memory_.data()));
    loader_ = std::make_unique<BufferDataLoader>(memory_.data(), bytes_.size());
    program_ =
        std::make_unique<runtime::Program>(std::move(runtime::Program::load(loader_.get()).get()));
  }

  const runtime::Program& program() const { return *program_; }
  runtime::Result<std::optional<Levels>> input() const {
    return input_levels(*program_, "forward", 0);
  }

 private:
  std::string bytes_;
  std::vector<uint64_t> memory_;
  std::unique_ptr<BufferDataLoader> loader_;
  std::unique_ptr<runtime::Program> program_;
};

Numbers numbers(double scale, int64_t zero_point, const std::string& prefix = "forward_") {
  return {{prefix + "input0_scale", Argument(scale)}, {prefix + "input0_zp", Argument(zero_point)}};
}

TEST(Levels, AreToldByMethods) {
  for (const char* prefix : {"forward_", ""}) {
    const Told told(numbers(0.5, 3, prefix));
    const auto levels = told.input();
    ASSERT_TRUE(levels.ok());
    ASSERT_TRUE(levels->has_value()) << prefix;
    EXPECT_EQ((*levels)->scale, 0.5);
    EXPECT_EQ((*levels)->zero_point, 3);
    EXPECT_EQ((*levels)->least, -128);
    EXPECT_EQ((*levels)->most, 127);
    EXPECT_TRUE(ProgramLevels(told.program()).is_told_by(std::string(prefix) + "input0_zp"));
    for (const char* name : {"forward", "input1_zp", "input00_zp", "input0_zp_", "output0_zp"}) {
      EXPECT_FALSE(ProgramLevels(told.program()).is_told_by(name)) << name;
    }
    EXPECT_FALSE(output_levels(told.program(), "forward", 0)->has_value());
    EXPECT_EQ(output_levels(told.program(), "forward", 1).error(), Error::InvalidArgument);
  }
  EXPECT_FALSE(Told({}).input()->has_value());
}

TEST(Levels, AreRefusedWhereTheyAreNone) {
  for (const double scale :
       {0.0, -0.5, std::nan(""), 1e-40, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(Told(numbers(scale, 3)).input().error(), Error::InvalidProgram) << scale;
  }
  EXPECT_EQ(Told(numbers(0.5, 128)).input().error(), Error::InvalidProgram);
  const auto with = [](const char* name, Argument number) {
    Numbers all = numbers(0.5, 3);
    all["forward_input0_" + std::string(name)] = std::move(number);
    return Told(all).input().error();
  };
  EXPECT_EQ(with("dtype", Argument(int64_t{1})), Error::Ok);
  EXPECT_EQ(with("dtype", Argument(int64_t{0})), Error::InvalidProgram);
  EXPECT_EQ(with("zp", Argument(3.0)), Error::InvalidProgram);
  EXPECT_EQ(with("scale", Argument(int64_t{1})), Error::InvalidProgram);
  EXPECT_EQ(with("quant_min", Argument(int64_t{-129})), Error::InvalidProgram);
  EXPECT_EQ(with("quant_max", Argument(int64_t{-129})), Error::InvalidProgram);
}

// What is said of the levels of an input.
std::string refusal_of(const Told& told) {
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(told.input().ok());
  return ::testing::internal::GetCapturedStderr();
}

TEST(Levels, NameTheMethodThatTellsWrongOnes) {
  const auto with = [](const char* name, Argument number) {
    Numbers all = numbers(0.5, 3);
    all["forward_input0_" + std::string(name)] = std::move(number);
    return refusal_of(Told(all));
  };
  const std::string place = "method 'forward_input0_";
  EXPECT_THAT(with("zp", Argument(3.0)),
              HasSubstr(place + "zp' tells 0 (which is none), must be an int in [-128, 127]"));
  for (const int64_t zero : {-129, 128}) {
    EXPECT_THAT(with("zp", Argument(zero)), HasSubstr("zp' tells " + std::to_string(zero)));
  }
  EXPECT_THAT(with("quant_min", Argument(int64_t{128})),
              HasSubstr(place + "quant_min' tells 128, must be an int in [-128, 127]"));
  EXPECT_THAT(with("quant_max", Argument(int64_t{-129})),
              HasSubstr(place + "quant_max' tells -129, must be an int in [-128, 127]"));
  EXPECT_THAT(with("scale", Argument(-0.5)),
              HasSubstr(place + "scale' tells -0.5, must be a double that is a positive scale"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(input_levels(Told({}).program(), "gone", 0).error(), Error::NotFound);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("there is no method 'gone'"));
}

// Each is a number that a method tells, under a name that says of no value what it is.
TEST(Levels, AreToldUnderTheirNamesOnly) {
  const std::vector<std::string> names = {"answer",
                                          "x",
                                          "input0_",
                                          "input0_size",
                                          "input0scale",
                                          "input_zp",
                                          "input00_zp",
                                          "0_zp",
                                          "put0_zp",
                                          "forwardinput0_zp",
                                          "gone_input0_zp",
                                          "input1_zp",
                                          "input" + std::string(30, '9') + "_zp"};
  Numbers all = numbers(0.5, 3);
  for (const std::string& name : names) all.emplace(name, Argument(int64_t{3}));
  const Told told(all);
  const ProgramLevels levels(told.program());
  EXPECT_TRUE(levels.is_told_by("forward_input0_zp"));
  for (const std::string& name : names) EXPECT_FALSE(levels.is_told_by(name)) << name;
}

TEST(Levels, AreToldByMethodsThatTakeNothingAndDoNothing) {
  const auto is_told = [](const auto& change) {
    Told told(numbers(0.5, 3), [&](exir::Method& scale) { change(scale); });
    return told.input()->has_value();
  };
  EXPECT_TRUE(is_told([](exir::Method&) {}));
  EXPECT_FALSE(is_told([](exir::Method& scale) {
    scale.graph->add_input(exir::TensorType::contiguous(exir::ScalarType::kChar, {2}), "x");
  }));
  EXPECT_FALSE(is_told(
      [](exir::Method& scale) { scale.signature.fixed_outputs.emplace(1, Argument(0.5)); }));
  EXPECT_FALSE(is_told([](exir::Method& scale) {
    const exir::OpInfo& full = exir::op(exir::aten::full);
    scale.graph->append(full,
                        {Argument(Argument::Ints{}), Argument(1.0),
                         Argument(exir::ScalarType::kFloat), Argument(), Argument(), Argument()},
                        {exir::TensorType::contiguous(exir::ScalarType::kFloat, {})}, "full");
  }));
}

TEST(Levels, AreTheNearestAndEvenBetweenTwo) {
  const Levels levels{ScalarType::Char, 0.5, 3, -128, 127};
  EXPECT_EQ(levels.level_of(0.0f), 3);
  EXPECT_EQ(levels.level_of(0.25f), 3);  // 0.5 of a level
  EXPECT_EQ(levels.level_of(0.75f), 5);  // 1.5
  EXPECT_EQ(levels.level_of(-0.75f), 1);
  EXPECT_EQ(levels.level_of(1e30f), 127);
  EXPECT_EQ(levels.level_of(-std::numeric_limits<float>::infinity()), -128);
  EXPECT_EQ(levels.level_of(std::nanf("")), 3);
  EXPECT_EQ(levels.number_of(5), 1.0f);
}

TEST(Levels, OfArraysOfEachWidth) {
  for (const auto& [type, least, most] :
       {std::tuple(ScalarType::Char, -128, 127), std::tuple(ScalarType::Byte, 0, 255),
        std::tuple(ScalarType::Short, -32768, 32767)}) {
    const Levels levels{type, 0.5, 2, least, most};
    NpyArray numbers{ScalarType::Float, {3}, std::vector<uint8_t>(3 * sizeof(float))};
    const float given[] = {1.0f, -0.5f, 1e9f};
    std::copy_n(reinterpret_cast<const uint8_t*>(given), sizeof(given), numbers.data.begin());
    const NpyArray in = in_levels(numbers, levels);
    EXPECT_EQ(in.data.size(), 3 * runtime::element_size(type));
    const NpyArray out = in_numbers(in, levels);
    const auto* made = reinterpret_cast<const float*>(out.data.data());
    EXPECT_EQ(std::vector<float>(made, made + 3),
              (std::vector<float>{1.0f, -0.5f, static_cast<float>(most - 2) * 0.5f}));
  }
}

}  // namespace
}  // namespace petrel::extension
