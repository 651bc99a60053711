// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/call_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "test/faults/signatures.h"

namespace petrel::fuzz {
namespace {

namespace fb = faults::fb;
using faults::InstructionRecipe;
using faults::PlanRecipe;
using faults::Recipe;
using faults::Signature;
using faults::ValueRecipe;
using Types = fb::KernelTypes;

constexpr uint64_t kArenaBytes = 1 << 16;
constexpr uint64_t kOutputBytes = 2048;
constexpr size_t kConstantBytes = 2048;
constexpr int32_t kHuge = std::numeric_limits<int32_t>::max();
constexpr size_t kOperators = sizeof(faults::kSignatures) / sizeof(faults::kSignatures[0]);

// The first one of a program is that of most of its tensors.
constexpr fb::ScalarType kTypes[] = {
    fb::ScalarType::FLOAT, fb::ScalarType::LONG,     fb::ScalarType::BOOL,   fb::ScalarType::INT,
    fb::ScalarType::HALF,  fb::ScalarType::BFLOAT16, fb::ScalarType::DOUBLE, fb::ScalarType::BYTE,
    fb::ScalarType::CHAR,  fb::ScalarType::SHORT};
constexpr uint64_t kWidths[] = {4, 8, 1, 4, 2, 2, 8, 1, 1, 2};
constexpr size_t kNumTypes = sizeof(kTypes) / sizeof(kTypes[0]);

// Small floats; one in sixteen is something that is not a number.
std::vector<uint8_t> constant_bytes() {
  std::vector<uint8_t> bytes(kConstantBytes);
  for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    float value = static_cast<float>(static_cast<int>(i * 5 % 11) - 5) * 0.5f;
    if (i % 16 == 15) value = i % 32 == 15 ? NAN : -INFINITY;
    std::memcpy(bytes.data() + i * sizeof(value), &value, sizeof(value));
  }
  return bytes;
}

class Method final {
 public:
  explicit Method(Choices& choices) : choices_(choices) {}

  PlanRecipe make(const std::string& name) {
    plan_.name = name;
    plan_.arenas = {0, kArenaBytes};
    plan_.chains.emplace_back();
    const uint64_t calls = choices_.below(4) == 3 ? 1 + choices_.below(4) : 1;
    for (uint64_t i = 0; i < calls; ++i) add_call();
    if (choices_.one_in(8)) add_move();
    if (choices_.one_in(16)) add_jump();
    return std::move(plan_);
  }

 private:
  int32_t add(ValueRecipe value) {
    plan_.values.push_back(std::move(value));
    return static_cast<int32_t>(plan_.values.size()) - 1;
  }

  void add_call() {
    const Signature& signature = faults::kSignatures[choices_.below(kOperators)];
    type_ = choices_.below(4) == 3 ? choices_.below(kNumTypes) : 0;
    base_.assign(choices_.below(5), 0);
    for (int32_t& size : base_) size = 1 + static_cast<int32_t>(choices_.below(5));
    const std::string name = signature.name;
    const size_t dot = name.find('.');
    InstructionRecipe call;
    call.first = static_cast<int32_t>(plan_.operators.size());
    plan_.operators.push_back(
        {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)});
    for (const char* letter = signature.arguments; *letter != '\0'; ++letter) {
      call.args.push_back(argument(*letter));
    }
    call.args.push_back(call.args.back());
    plan_.chains[0].push_back(std::move(call));
  }

  int32_t argument(char letter) {
    if (letter >= 'a' && letter <= 'z') {
      if (choices_.below(2) == 0) return add(faults::number_value(Types::Null, 0));
      letter = static_cast<char>(letter - 'a' + 'A');
    }
    switch (letter) {
      case 'T':
        return input();
      case 'W':
        return output();
      case 'L':
      case 'N':
      case 'V':
        return tensors(letter);
      case 'F':
        return add(faults::number_value(Types::Double, number()));
      case 'S':
        if (choices_.one_in(3)) return add(faults::number_value(Types::Double, number()));
        return integer();
      case 'B':
        return add(faults::number_value(Types::Bool, static_cast<double>(choices_.below(2))));
      case 'Y':
        return add(faults::number_value(
            Types::Int,
            static_cast<double>(kTypes[choices_.one_in(4) ? choices_.below(kNumTypes) : type_])));
      case 'A':
        return integers();
      case 'D':
        return add(faults::list_value(Types::DoubleList, {1, 2}));
      case 'G':
        return add(faults::list_value(
            Types::BoolList, std::vector<int64_t>(1 + choices_.below(3), choices_.below(2))));
      case 'X':
        return text();
      default:
        return integer();
    }
  }

  int32_t text() {
    static const char* const kTexts[] = {"none", "floor", "trunc", "tanh", "sum", "mean", ""};
    ValueRecipe value = faults::number_value(Types::String, 0);
    value.text = kTexts[choices_.below(7)];
    return add(std::move(value));
  }

  double number() {
    static const double kNumbers[] = {0.5, 1, 0, -1, 2, 1e-6, 1e30, -1e300, NAN, INFINITY};
    return kNumbers[choices_.below(10)];
  }

  int32_t integer() {
    static const int64_t kNumbers[] = {
        0,         1,    2, 3, -1, -2, 4, 5, 7, 1000, INT32_MAX, INT32_MIN, INT64_MAX - 1023,
        INT64_MIN, -1000};
    // Mostly one that a dim or a size may be; all are numbers of a double, too.
    const uint64_t choice = choices_.below(32);
    ValueRecipe value = faults::number_value(Types::Int, 0);
    value.number = static_cast<double>(kNumbers[choice < 15 ? choice : choice % 4]);
    return add(std::move(value));
  }

  int32_t integers() {
    const uint64_t choice = choices_.below(8);
    const size_t count = choice < 4 ? choice : choice < 7 ? base_.size() : choices_.below(8);
    std::vector<int64_t> items;
    for (size_t i = 0; i < count; ++i) {
      if (choices_.below(4) == 3 && i < base_.size()) {
        items.push_back(add(faults::number_value(Types::Int, base_[i])));
      } else {
        items.push_back(integer());
      }
    }
    return add(faults::list_value(Types::IntList, items));
  }

  int32_t tensors(char letter) {
    std::vector<int64_t> items;
    const uint64_t count = choices_.below(4);
    for (uint64_t i = 0; i < count; ++i) items.push_back(letter == 'V' ? output() : input());
    if (letter == 'N' && choices_.one_in(2)) items.push_back(-1);
    return add(
        faults::list_value(letter == 'N' ? Types::OptionalTensorList : Types::TensorList, items));
  }

  // The sizes of the call, or some that are related, or none of that.
  std::vector<int32_t> sizes() {
    std::vector<int32_t> sizes = base_;
    switch (choices_.below(16)) {
      case 8:
        for (int32_t& size : sizes) size = choices_.below(2) == 0 ? 1 : size;
        break;
      case 9:
        if (!sizes.empty()) sizes.erase(sizes.begin());
        break;
      case 10:
        std::reverse(sizes.begin(), sizes.end());
        break;
      case 11:
        if (sizes.size() > 1) std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
        break;
      case 12:
        sizes.assign(choices_.below(5), 0);
        for (int32_t& size : sizes) size = 1 + static_cast<int32_t>(choices_.below(5));
        break;
      case 13:
        if (!sizes.empty()) sizes[choices_.below(sizes.size())] = 0;
        break;
      case 14:
        sizes.assign(1 + choices_.below(4), kHuge);
        sizes[choices_.below(sizes.size())] = 0;
        break;
      case 15:
        if (!sizes.empty()) sizes.resize(1);
        break;
      default:
        break;
    }
    return sizes;
  }

  size_t type() {
    const uint64_t choice = choices_.below(16);
    if (choice < 11) return type_;
    return choice < 14 ? choice - 10 : choices_.below(kNumTypes);
  }

  // A tensor in the arena, behind the others or over one of them.
  ValueRecipe tensor(std::vector<int32_t> sizes, size_t type, uint64_t at_least) {
    ValueRecipe value = faults::planned_tensor(std::move(sizes), 0);
    value.scalar_type = static_cast<int8_t>(kTypes[type]);
    uint64_t bytes = kWidths[type];
    for (const int32_t size : value.sizes) bytes *= static_cast<uint64_t>(size);
    bytes = (std::max(bytes, at_least) + 15) / 16 * 16;
    if (choices_.one_in(16) || end_ + bytes > kArenaBytes) {
      value.place->offset = choices_.below(std::max<uint64_t>(end_ / 16, 1)) * 16;
      end_ = std::max(end_, value.place->offset + bytes);
    } else {
      value.place->offset = end_;
      end_ += bytes;
    }
    if (choices_.one_in(4)) value.dynamism = 1;
    if (choices_.one_in(16)) std::reverse(value.dim_order.begin(), value.dim_order.end());
    return value;
  }

  int32_t input() {
    const uint64_t choice = choices_.below(16);
    // One that is there already, written or read.
    if (choice >= 14 && !tensors_.empty()) return tensors_[choices_.below(tensors_.size())];
    ValueRecipe value = tensor(sizes(), type(), 0);
    const bool is_constant = choice == 13 && value.scalar_type == 6;
    if (is_constant) {
      value.place.reset();
      value.constant = 1;
      value.dynamism = 0;
      uint64_t count = 1;
      for (const int32_t size : value.sizes) count *= static_cast<uint64_t>(size);
      if (count * sizeof(float) > kConstantBytes) value.sizes.assign(value.sizes.size(), 1);
    } else if (choice < 6) {
      value.place.reset();
    }
    const int32_t id = add(std::move(value));
    // Without memory and no input: unbound, which a method must notice.
    if (!is_constant && choice != 12) plan_.inputs.push_back(id);
    tensors_.push_back(id);
    return id;
  }

  int32_t output() {
    const uint64_t choice = choices_.below(16);
    if (choice == 15 && !tensors_.empty()) return tensors_[choices_.below(tensors_.size())];
    // Room for many results, as long as the rank is theirs; or for one of the sizes of
    // the call alone, so that a byte more is one that nobody has.
    std::vector<int32_t> room = base_;
    const bool is_exact = choice < 5;
    if (choice >= 8) room.assign(choice - 8 < 6 ? choice - 8 : 2, 0);
    for (int32_t& size : room) {
      if (!is_exact) size = room.size() > 3 ? 5 : 8;
    }
    size_t type = choices_.below(4) == 3 ? choices_.below(kNumTypes) : type_;
    ValueRecipe value = tensor(std::move(room), type, is_exact ? 0 : kOutputBytes);
    value.dynamism = 1;
    if (choices_.one_in(is_exact ? 2 : 8)) value.place.reset();
    const int32_t id = add(std::move(value));
    plan_.outputs.push_back(id);
    tensors_.push_back(id);
    return id;
  }

  void add_move() {
    if (tensors_.empty()) return;
    InstructionRecipe move;
    move.type = fb::InstructionArguments::MoveCall;
    move.first = tensors_[choices_.below(tensors_.size())];
    move.second = tensors_[choices_.below(tensors_.size())];
    auto& chain = plan_.chains[0];
    chain.insert(chain.begin() + static_cast<ptrdiff_t>(choices_.below(chain.size() + 1)), move);
  }

  void add_jump() {
    InstructionRecipe jump;
    jump.type = fb::InstructionArguments::JumpFalseCall;
    jump.first = add(faults::number_value(Types::Bool, static_cast<double>(choices_.below(2))));
    jump.second = static_cast<int32_t>(choices_.below(plan_.chains[0].size()));
    plan_.chains[0].push_back(jump);
  }

  Choices& choices_;
  PlanRecipe plan_;
  size_t type_ = 0;
  std::vector<int32_t> base_;
  std::vector<int32_t> tensors_;
  uint64_t end_ = 0;
};

std::string list_of(const std::vector<int64_t>& items) {
  std::string text = "[";
  for (const int64_t item : items) text += std::to_string(item) + " ";
  return text + "]";
}

std::string describe_value(const PlanRecipe& plan, int32_t id) {
  const ValueRecipe& value = plan.values[static_cast<size_t>(id)];
  std::string text = std::to_string(id) + ": ";
  if (value.type == Types::Tensor) {
    text += "tensor of type " + std::to_string(value.scalar_type) +
            list_of({value.sizes.begin(), value.sizes.end()});
    if (value.dynamism != 0) text += " varying";
    if (value.constant != 0) text += " constant";
    if (value.place.has_value()) text += " at " + std::to_string(value.place->offset);
    if (std::find(plan.inputs.begin(), plan.inputs.end(), id) != plan.inputs.end()) {
      text += " input";
    }
    if (!std::is_sorted(value.dim_order.begin(), value.dim_order.end())) text += " transposed";
    return text;
  }
  if (!value.items.empty()) {
    for (const int64_t item : value.items) {
      text += item < 0 || value.type == Types::DoubleList || value.type == Types::BoolList
                  ? std::to_string(item) + " "
                  : "(" + describe_value(plan, static_cast<int32_t>(item)) + ") ";
    }
    return text;
  }
  if (value.text.has_value()) return text + "'" + *value.text + "'";
  if (value.type == Types::Null) return text + "none";
  return text + std::to_string(value.number);
}

}  // namespace

Recipe call_program(Choices choices) {
  Recipe recipe;
  recipe.plans.clear();
  recipe.segments = {constant_bytes()};
  recipe.constants = faults::EntriesRecipe{0, {0, 0}};
  recipe.plans.push_back(Method(choices).make("forward"));
  if (choices.one_in(16)) recipe.plans.push_back(Method(choices).make("second"));
  return recipe;
}

std::string describe(const Recipe& recipe) {
  std::string text;
  for (const PlanRecipe& plan : recipe.plans) {
    for (const InstructionRecipe& step : plan.chains[0]) {
      if (step.type != fb::InstructionArguments::KernelCall) {
        text += "instruction of type " + std::to_string(static_cast<int>(step.type)) + " from " +
                std::to_string(step.first) + " to " + std::to_string(step.second) + "\n";
        continue;
      }
      const faults::OperatorRecipe& op = plan.operators[static_cast<size_t>(step.first)];
      text += *op.name + "." + *op.overload + "\n";
      for (const int32_t id : step.args) text += "  " + describe_value(plan, id) + "\n";
    }
  }
  return text;
}

}  // namespace petrel::fuzz
