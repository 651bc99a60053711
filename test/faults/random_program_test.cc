// SPDX-License-Identifier: Apache-2.0
//
// Programs of random values and random calls of every kernel: valid for the
// verifier, mostly senseless for the kernels. Arguments have the types of the
// operator's schema most of the time, so that calls get past the first check;
// tensors overlap, repeat, are empty, constant, of any type, and of dynamic
// sizes; numbers are small, or extreme. Nothing is expected but an answer, and
// memory kept (the sanitizers watch).

#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

#include "test/faults/recipe.h"
#include "test/faults/runner.h"
#include "test/faults/signatures.h"

namespace petrel::faults {
namespace {

constexpr uint64_t kArenaBytes = 4096;
constexpr size_t kConstantBytes = 1024;

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Recipe make() {
    Recipe recipe;
    PlanRecipe& plan = recipe.plans[0];
    plan = PlanRecipe();
    plan.arenas = {0, kArenaBytes};
    recipe.segments = {constants()};
    recipe.constants = EntriesRecipe{0, {0, 0, 64, 512}};
    add_values(&plan);
    plan.chains.emplace_back();
    const int64_t calls = below(3) + 1;
    for (int64_t i = 0; i < calls; ++i) add_call(&plan);
    if (below(8) == 0) add_jump(&plan);
    return recipe;
  }

 private:
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }

  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

  // Small floats first, then anything.
  std::vector<uint8_t> constants() {
    std::vector<uint8_t> bytes(kConstantBytes);
    for (size_t i = 0; i < bytes.size(); i += 4) {
      const auto number = static_cast<float>(below(9)) - 4;
      const auto noise = static_cast<uint32_t>(random_());
      std::memcpy(bytes.data() + i, i < 512 ? static_cast<const void*>(&number) : &noise, 4);
    }
    return bytes;
  }

  int64_t integer() {
    switch (below(12)) {
      case 0:
        return pick(std::vector<int64_t>{INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, -1000, 1000,
                                         int64_t{1} << 32, INT64_MIN + 1});
      case 1:
        return -below(4) - 1;
      default:
        return below(4);
    }
  }

  ValueRecipe tensor() {
    static constexpr fb::ScalarType kTypes[] = {
        fb::ScalarType::FLOAT, fb::ScalarType::FLOAT,    fb::ScalarType::FLOAT,
        fb::ScalarType::LONG,  fb::ScalarType::LONG,     fb::ScalarType::INT,
        fb::ScalarType::BOOL,  fb::ScalarType::HALF,     fb::ScalarType::DOUBLE,
        fb::ScalarType::BYTE,  fb::ScalarType::BFLOAT16, fb::ScalarType::QINT8};
    static constexpr uint64_t kElementBytes[] = {4, 4, 4, 8, 8, 4, 1, 2, 8, 1, 2, 1};
    const auto rank = below(6);
    std::vector<int32_t> sizes;
    uint64_t numel = 1;
    for (int64_t i = 0; i < rank; ++i) {
      sizes.push_back(below(20) == 0 ? 0 : static_cast<int32_t>(below(4)) + 1);
      numel *= static_cast<uint64_t>(sizes.back());
    }
    // Few dtypes per program, so that they often agree.
    const size_t type = below(4) == 0 ? static_cast<size_t>(below(12)) : main_type_;
    const uint64_t bytes = numel * kElementBytes[type];
    if (bytes > kConstantBytes / 2) return tensor();
    const uint64_t room = (kArenaBytes - bytes) / 16 + 1;
    // Mostly apart; sometimes over another.
    uint64_t offset = static_cast<uint64_t>(below(static_cast<int64_t>(room))) * 16;
    ValueRecipe value = planned_tensor(sizes, offset);
    value.scalar_type = static_cast<int8_t>(kTypes[type]);
    if (below(3) == 0) value.dynamism = 1;
    if (below(10) == 0) std::shuffle(value.dim_order.begin(), value.dim_order.end(), random_);
    if (below(4) == 0) {
      value.place.reset();
      value.constant = static_cast<uint32_t>(below(4));
      value.dynamism = 0;
    }
    return value;
  }

  void add(PlanRecipe* plan, char kind, ValueRecipe value) {
    by_kind_[kind].push_back(static_cast<int32_t>(plan->values.size()));
    plan->values.push_back(std::move(value));
  }

  std::vector<int64_t> indices(char kind, int64_t count) {
    std::vector<int64_t> items;
    for (int64_t i = 0; i < count; ++i) items.push_back(pick(by_kind_[kind]));
    return items;
  }

  void add_values(PlanRecipe* plan) {
    using Types = fb::KernelTypes;
    main_type_ = static_cast<size_t>(below(12));
    for (int i = 0; i < 10; ++i) add(plan, 'T', tensor());
    // Outputs that can take many results: one per rank, of variable sizes.
    for (const std::vector<int32_t>& sizes :
         {std::vector<int32_t>{}, {64}, {8, 8}, {4, 4, 4}, {4, 4, 2, 2}, {2, 4, 2, 2, 2}}) {
      ValueRecipe value = tensor();
      value.constant = 0;
      value.sizes = sizes;
      value.dim_order.clear();
      for (size_t d = 0; d < sizes.size(); ++d) value.dim_order.push_back(static_cast<uint8_t>(d));
      value.place = PlaceRecipe{1, kArenaBytes - 512 - 512 * sizes.size()};
      value.dynamism = 1;
      add(plan, 'W', value);
    }
    for (int i = 0; i < 8; ++i) {
      ValueRecipe value = number_value(Types::Int, 0);
      value.number = static_cast<double>(integer());
      add(plan, 'I', value);
    }
    for (const double number : {0.0, 0.5, -1.0, 1e300, std::nan("")}) {
      add(plan, 'F', number_value(Types::Double, number));
    }
    add(plan, 'B', number_value(Types::Bool, 0));
    add(plan, 'B', number_value(Types::Bool, 1));
    add(plan, '0', number_value(Types::Null, 0));
    for (const int64_t dtype : {6, 6, 4, 11, 5, 0, 9, 99}) {
      add(plan, 'Y', number_value(Types::Int, static_cast<double>(dtype)));
    }
    for (const char* text : {"none", "floor", "trunc", "tanh", ""}) {
      ValueRecipe value = number_value(Types::String, 0);
      value.text = text;
      add(plan, 'X', value);
    }
    for (int i = 0; i < 6; ++i) add(plan, 'A', list_value(Types::IntList, indices('I', below(6))));
    add(plan, 'D', list_value(Types::DoubleList, {1, 2}));
    add(plan, 'G', list_value(Types::BoolList, {1, 0, 1}));
    for (int i = 0; i < 2; ++i) {
      add(plan, 'L', list_value(Types::TensorList, indices('T', below(4))));
      std::vector<int64_t> optional = indices('T', below(4));
      if (below(2) == 0) optional.push_back(-1);
      add(plan, 'N', list_value(Types::OptionalTensorList, optional));
    }
    for (const int32_t value : by_kind_['T']) {
      const ValueRecipe& recipe = plan->values[static_cast<size_t>(value)];
      if (!recipe.place.has_value() && recipe.constant == 0) plan->inputs.push_back(value);
    }
    plan->outputs = {by_kind_['T'][9]};
  }

  int32_t argument(const PlanRecipe& plan, char letter) {
    const auto num_values = static_cast<int64_t>(plan.values.size());
    if (below(40) == 0) return static_cast<int32_t>(below(num_values));
    if (letter >= 'a' && letter <= 'z') {
      if (below(2) == 0) return pick(by_kind_['0']);
      letter = static_cast<char>(letter - 'a' + 'A');
    }
    switch (letter) {
      case 'W':
        return pick(by_kind_[below(4) == 0 ? 'T' : 'W']);
      case 'V':
        return pick(by_kind_['L']);
      case 'O':
        return pick(by_kind_['I']);
      case 'S':
        return pick(by_kind_[below(3) == 0 ? 'F' : 'I']);
      default:
        return pick(by_kind_[letter]);
    }
  }

  void add_call(PlanRecipe* plan) {
    const size_t count = sizeof(kSignatures) / sizeof(kSignatures[0]);
    const Signature& signature = kSignatures[static_cast<size_t>(below(int64_t{count}))];
    const std::string name = signature.name;
    const size_t dot = name.find('.');
    InstructionRecipe call;
    call.first = static_cast<int32_t>(plan->operators.size());
    plan->operators.push_back(
        {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)});
    for (const char* letter = signature.arguments; *letter != '\0'; ++letter) {
      call.args.push_back(argument(*plan, *letter));
    }
    // An elementwise call more often works when its tensors are one size, and
    // most calls when the result has the rank of the first argument.
    if (below(2) == 0) {
      for (size_t i = 1; i < call.args.size(); ++i) {
        if (signature.arguments[i] != 'W' || signature.arguments[0] != 'T') continue;
        const ValueRecipe& first = plan->values[static_cast<size_t>(call.args[0])];
        call.args[i] = by_kind_['W'][first.sizes.size() % 6];
      }
    }
    if (below(3) == 0) {
      const int32_t like = pick(by_kind_['T']);
      for (size_t i = 0; i < call.args.size(); ++i) {
        if (signature.arguments[i] == 'T' && below(2) == 0) call.args[i] = like;
      }
    }
    call.args.push_back(call.args.back());
    plan->chains[0].push_back(call);
  }

  void add_jump(PlanRecipe* plan) {
    InstructionRecipe jump;
    jump.type = fb::InstructionArguments::JumpFalseCall;
    jump.first = pick(by_kind_['B']);
    jump.second = static_cast<int32_t>(below(static_cast<int64_t>(plan->chains[0].size())));
    plan->chains[0].push_back(jump);
    std::vector<InstructionRecipe> moves;
    for (const int32_t from : by_kind_['T']) {
      for (const char kind : {'T', 'W'}) {
        for (const int32_t to : by_kind_[kind]) {
          InstructionRecipe move;
          move.type = fb::InstructionArguments::MoveCall;
          move.first = from;
          move.second = to;
          if (may_move(*plan, from, to)) moves.push_back(move);
        }
      }
    }
    if (!moves.empty()) plan->chains[0].insert(plan->chains[0].begin(), pick(moves));
  }

  // Others are refused when the program is loaded.
  static bool may_move(const PlanRecipe& plan, int32_t from, int32_t to) {
    const ValueRecipe& source = plan.values[static_cast<size_t>(from)];
    const ValueRecipe& target = plan.values[static_cast<size_t>(to)];
    return target.place.has_value() && source.scalar_type == target.scalar_type &&
           source.dim_order == target.dim_order;
  }

  std::mt19937_64 random_;
  std::map<char, std::vector<int32_t>> by_kind_;
  size_t main_type_ = 0;
};

// PETREL_RANDOM_PROGRAMS=N makes N of them, PETREL_RANDOM_SEED=S begins at S.
int64_t setting(const char* name, int64_t fallback) {
  const char* const text = std::getenv(name);
  return text == nullptr ? fallback : std::atoll(text);
}

TEST(RandomProgramTest, StaysWithinItsMemory) {
  const QuietLog quiet;
  const Golden golden;
  const int64_t first = setting("PETREL_RANDOM_SEED", 0);
  const int64_t count = setting("PETREL_RANDOM_PROGRAMS", 30000);
  int64_t ran = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    // Known to a debugger, and to the sanitizers' report, when it ends here.
    if (count == 1) std::printf("seed %" PRId64 "\n", seed);
    const std::vector<uint8_t> bytes = build(Generator(static_cast<uint64_t>(seed)).make());
    Faults faults;
    const Report report = run_program(bytes, golden, &faults);
    ASSERT_EQ(report.load, runtime::Error::Ok) << "seed " << seed << ": " << QuietLog::last();
    ASSERT_EQ(report.leaked_buffers, 0) << "seed " << seed;
    ran += report.all_ok();
  }
  std::printf("%" PRId64 " random programs, %" PRId64 " ran to the end\n", count, ran);
  // Otherwise the programs would test nothing but the first check.
  EXPECT_GT(ran, count / 100);
}

}  // namespace
}  // namespace petrel::faults
