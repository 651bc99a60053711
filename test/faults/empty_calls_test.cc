// SPDX-License-Identifier: Apache-2.0
//
// Calls of every kernel, of both sets, with tensors that have no elements and
// other sizes of 30,000: whatever a kernel answers, it answers at once. A loop
// over the rows of nothing would go on for hours, within every limit.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "extension/module/module.h"
#include "runtime/kernels/portable/kernels.h"
#include "test/faults/recipe.h"
#include "test/faults/runner.h"
#include "test/faults/signatures.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

using extension::Module;
using runtime::Error;
using runtime::KernelLibrary;
using runtime::Registry;
using Types = fb::KernelTypes;

constexpr int32_t kLarge = 30000;
constexpr int kCallsPerKernel = 600;
// Of the processor for one call, which takes microseconds.
constexpr unsigned kSeconds = 20;

char g_call[256];

void tell_and_end(int) {
  const char text[] = "goes on and on: ";
  (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
  (void)!write(STDERR_FILENO, g_call, strnlen(g_call, sizeof(g_call)));
  (void)!write(STDERR_FILENO, "\n", 1);
  _exit(1);
}

// One call of `signature`, of values that are chosen at random.
class EmptyCall {
 public:
  EmptyCall(const Signature& signature, uint64_t seed) : random_(seed) {
    static constexpr fb::ScalarType kTypes[] = {
        fb::ScalarType::FLOAT, fb::ScalarType::FLOAT, fb::ScalarType::DOUBLE, fb::ScalarType::HALF,
        fb::ScalarType::LONG,  fb::ScalarType::CHAR,  fb::ScalarType::BOOL};
    type_ = kTypes[below(7)];
    rank_ = 1 + below(4);
    for (size_t d = 0; d < 5; ++d) sizes_.push_back(size());
    plan_ = PlanRecipe();
    plan_.arenas = {0, 64};
    const std::string name = signature.name;
    const size_t dot = name.find('.');
    plan_.operators.push_back(
        {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)});
    InstructionRecipe call;
    for (const char* letter = signature.arguments; *letter != '\0'; ++letter) {
      call.args.push_back(argument(*letter));
    }
    call.args.push_back(call.args.back());
    plan_.chains = {{call}};
  }

  std::vector<uint8_t> program() const {
    Recipe recipe;
    recipe.plans[0] = plan_;
    return build(recipe);
  }

 private:
  size_t below(size_t limit) { return static_cast<size_t>(random_() % limit); }
  int32_t size() {
    const size_t kind = below(8);
    return kind == 0 ? 1 : kind < 4 ? 0 : kLarge;
  }

  int32_t add(ValueRecipe value) {
    plan_.values.push_back(std::move(value));
    return static_cast<int32_t>(plan_.values.size() - 1);
  }

  int32_t tensor(bool written) {
    std::vector<int32_t> sizes(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(rank_));
    // Products and lookups take others.
    if (below(3) == 0) sizes.resize(below(5), kLarge);
    for (int32_t& one : sizes) {
      if (below(4) == 0) one = size();
    }
    bool empty = false;
    for (const int32_t one : sizes) empty = empty || one == 0;
    if (!empty) {
      if (sizes.empty()) sizes.push_back(0);
      sizes[below(sizes.size())] = 0;
    }
    ValueRecipe value = planned_tensor(sizes, 0);
    const auto type = below(6) == 0   ? fb::ScalarType::LONG
                      : below(6) == 0 ? fb::ScalarType::BOOL
                                      : type_;
    value.scalar_type = static_cast<int8_t>(type);
    if (written) value.dynamism = 1;
    return add(std::move(value));
  }

  int64_t integer() {
    static constexpr int64_t kNumbers[] = {0, 1, 2, 3, -1, 1, 0, kLarge};
    return kNumbers[below(8)];
  }
  int32_t number(Types type, double value) { return add(number_value(type, value)); }
  template <typename Make>
  std::vector<int64_t> several(Make make) {
    std::vector<int64_t> items;
    for (size_t i = below(4); i > 0; --i) items.push_back(make());
    return items;
  }

  int32_t argument(char letter) {
    if (letter >= 'a' && letter <= 'z') {
      if (below(2) == 0) return number(Types::Null, 0);
      letter = static_cast<char>(letter - 'a' + 'A');
    }
    switch (letter) {
      case 'T':
      case 'W':
        return tensor(letter == 'W');
      case 'L':
      case 'V':
        return add(list_value(Types::TensorList, several([&] { return tensor(letter == 'V'); })));
      case 'N':
        return add(list_value(Types::OptionalTensorList, several([&] { return tensor(false); })));
      case 'A':
        return add(list_value(Types::IntList, several([&] {
                                return number(Types::Int, static_cast<double>(integer()));
                              })));
      case 'D':
        return add(list_value(Types::DoubleList, {1, 2}));
      case 'G':
        return add(list_value(Types::BoolList, {1, 0, 1}));
      case 'F':
        return number(Types::Double, static_cast<double>(below(3)));
      case 'B':
        return number(Types::Bool, static_cast<double>(below(2)));
      case 'X': {
        ValueRecipe value = number_value(Types::String, 0);
        value.text = "none";
        return add(std::move(value));
      }
      case 'Y':
        return below(2) == 0 ? number(Types::Null, 0) : number(Types::Int, 6);
      default:
        return number(Types::Int, static_cast<double>(integer()));
    }
  }

  std::mt19937_64 random_;
  fb::ScalarType type_;
  size_t rank_;
  std::vector<int32_t> sizes_;
  PlanRecipe plan_;
};

class EmptyCallsTest : public ::testing::TestWithParam<bool> {};

TEST_P(EmptyCallsTest, EndAtOnce) {
  static constexpr KernelLibrary kPortable[] = {&runtime::portable_kernels};
  static const Registry reference(kPortable, {});
  const QuietLog quiet;
  signal(SIGALRM, tell_and_end);
  Module::Options options;
  options.registry = GetParam() ? &reference : &test_registry();
  int64_t ran = 0;
  std::map<std::string, int> kernels;
  for (const Signature& signature : kSignatures) {
    for (int i = 0; i < kCallsPerKernel; ++i) {
      std::snprintf(g_call, sizeof(g_call), "%s, call %d", signature.name, i);
      const std::vector<uint8_t> bytes = EmptyCall(signature, static_cast<uint64_t>(i)).program();
      alarm(kSeconds);
      const auto module = Module::load(bytes.data(), bytes.size(), options);
      ASSERT_TRUE(module.ok()) << g_call << ": " << QuietLog::last();
      const Error error = (*module)->execute("forward", {}).error();
      if (error != Error::Ok) continue;
      ++ran;
      ++kernels[signature.name];
    }
  }
  alarm(0);
  std::printf("%" PRId64 " calls of %zu kernels ran to the end\n", ran, kernels.size());
  for (const Signature& signature : kSignatures) {
    if (kernels.count(signature.name) == 0) std::printf("none of %s\n", signature.name);
  }
  // Otherwise the first check would be all that is tested.
  EXPECT_GT(kernels.size(), std::size(kSignatures) * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(All, EmptyCallsTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Reference" : "Optimized"; });

}  // namespace
}  // namespace petrel::faults
