// SPDX-License-Identifier: Apache-2.0
#include "extension/levels/levels.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <iterator>
#include <string>

#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::MethodView;
using runtime::Program;
using runtime::Result;
using runtime::ScalarType;
using runtime::Tag;
using runtime::TensorView;
using runtime::ValueView;

constexpr const char* kNumbers[] = {"scale", "zp", "quant_min", "quant_max", "dtype"};

struct Width {
  int64_t least;
  int64_t most;
};

std::optional<Width> width_of(ScalarType type) {
  switch (type) {
    case ScalarType::Char:
      return Width{INT8_MIN, INT8_MAX};
    case ScalarType::Byte:
      return Width{0, UINT8_MAX};
    case ScalarType::Short:
      return Width{INT16_MIN, INT16_MAX};
    default:
      return std::nullopt;
  }
}

Error check_index(const char* what, size_t index, size_t count) {
  if (index < count) return Error::Ok;
  PETREL_LOG(Error, "%s is %zu, must be below %zu", what, index, count);
  return Error::InvalidArgument;
}

// What a name such as "forward_input0_scale" says that its method tells.
struct Told {
  std::string_view method;
  bool is_input = true;
  size_t index = 0;
};

bool take_end(std::string_view* text, std::string_view end) {
  if (text->size() < end.size() || text->substr(text->size() - end.size()) != end) return false;
  text->remove_suffix(end.size());
  return true;
}

std::optional<Told> parse_told(std::string_view name) {
  const bool is_number = std::any_of(std::begin(kNumbers), std::end(kNumbers),
                                     [&](const char* number) { return take_end(&name, number); });
  if (!is_number || !take_end(&name, "_")) return std::nullopt;
  const size_t begin = name.find_last_not_of("0123456789") + 1;
  const std::string digits(name.substr(begin));
  constexpr size_t kMostDigits = 9;
  const bool is_padded = digits.size() > 1 && digits[0] == '0';
  if (digits.empty() || digits.size() > kMostDigits || is_padded) return std::nullopt;
  name.remove_suffix(digits.size());
  Told told;
  told.index = std::stoul(digits);
  told.is_input = take_end(&name, "input");
  if (!told.is_input && !take_end(&name, "output")) return std::nullopt;
  // ExecuTorch's passes leave the name of "forward" away unless they are given one.
  told.method = name.empty() ? "forward" : name;
  if (!name.empty() && !take_end(&told.method, "_")) return std::nullopt;
  return told;
}

}  // namespace

// The numbers of one input or output.
class ProgramLevels::Teller {
 public:
  Teller(const ProgramLevels& levels, std::string_view method, bool is_input, size_t index)
      : levels_(levels) {
    const std::string place = (is_input ? "input" : "output") + std::to_string(index) + "_";
    prefix_ = std::string(method) + "_" + place;
    // ExecuTorch's passes leave the name away unless they are given one.
    if (method == "forward" && !levels.number(prefix_ + "scale")) prefix_ = place;
  }

  // Of what may not be a tensor.
  Result<std::optional<Levels>> levels_of(const std::optional<TensorView>& tensor) const {
    if (!tensor) return std::optional<Levels>();
    const std::optional<Width> width = width_of(tensor->scalar_type);
    if (!width || !tells("scale") || !tells("zp")) return std::optional<Levels>();
    Levels levels;
    levels.type = tensor->scalar_type;
    const auto type = static_cast<int64_t>(levels.type);
    PETREL_RETURN_IF_ERROR(whole("dtype", type, type, type).error());
    PETREL_ASSIGN_OR_RETURN(levels.scale, scale());
    PETREL_ASSIGN_OR_RETURN(levels.least,
                            whole("quant_min", width->least, width->most, width->least));
    PETREL_ASSIGN_OR_RETURN(levels.most,
                            whole("quant_max", levels.least, width->most, width->most));
    PETREL_ASSIGN_OR_RETURN(levels.zero_point, whole("zp", width->least, width->most, 0));
    return std::optional<Levels>(levels);
  }

 private:
  bool tells(const char* what) const { return levels_.number(prefix_ + what).has_value(); }

  // In [least, most]; `otherwise` where nothing is told.
  Result<int32_t> whole(const char* what, int64_t least, int64_t most, int64_t otherwise) const {
    const std::optional<ValueView> value = levels_.number(prefix_ + what);
    if (!value) return static_cast<int32_t>(otherwise);
    const bool is_int = value->tag() == Tag::Int;
    if (!is_int || value->as_int() < least || value->as_int() > most) {
      PETREL_LOG(Error,
                 "method '%s%s' tells %" PRId64 "%s, must be an int in [%" PRId64 ", %" PRId64 "]",
                 prefix_.c_str(), what, is_int ? value->as_int() : 0,
                 is_int ? "" : " (which is none)", least, most);
      return Error::InvalidProgram;
    }
    return static_cast<int32_t>(value->as_int());
  }

  Result<double> scale() const {
    const std::optional<ValueView> value = levels_.number(prefix_ + "scale");
    const double scale = value && value->tag() == Tag::Double ? value->as_double() : 0;
    if (!std::isnormal(static_cast<float>(scale)) || scale < 0) {
      PETREL_LOG(Error, "method '%sscale' tells %g, must be a double that is a positive scale",
                 prefix_.c_str(), scale);
      return Error::InvalidProgram;
    }
    return scale;
  }

  const ProgramLevels& levels_;
  std::string prefix_;
};

ProgramLevels::ProgramLevels(const Program& program) {
  for (uint32_t i = 0; i < program.view().num_methods(); ++i) {
    const MethodView method = program.view().method(i);
    methods_.emplace(method.name(), method);
  }
}

const MethodView* ProgramLevels::find(std::string_view name) const {
  const auto found = methods_.find(name);
  return found == methods_.end() ? nullptr : &found->second;
}

// The value that the method `name` returns, if it is one that takes nothing and does nothing.
std::optional<ValueView> ProgramLevels::number(std::string_view name) const {
  const MethodView* const method = find(name);
  if (method == nullptr || !method->inputs().empty() || method->outputs().size() != 1 ||
      method->chain(0).num_instructions() != 0) {
    return std::nullopt;
  }
  return method->value(method->outputs()[0]);
}

int32_t Levels::level_of(float number) const {
  // Each step is rounded to float, as eager PyTorch computes it.
  const auto inverse = static_cast<float>(1.0 / scale);
  const float level = std::nearbyintf(number * inverse) + static_cast<float>(zero_point);
  const float known = std::isnan(level) ? static_cast<float>(zero_point) : level;
  if (known < static_cast<float>(least)) return least;
  return known > static_cast<float>(most) ? most : static_cast<int32_t>(known);
}

float Levels::number_of(int32_t level) const {
  return static_cast<float>(level - zero_point) * static_cast<float>(scale);
}

Result<std::optional<Levels>> ProgramLevels::input(std::string_view method, size_t index) const {
  return levels_of(method, true, index);
}

Result<std::optional<Levels>> ProgramLevels::output(std::string_view method, size_t index) const {
  return levels_of(method, false, index);
}

Result<std::optional<Levels>> ProgramLevels::levels_of(std::string_view name, bool is_input,
                                                       size_t index) const {
  const MethodView* const method = find(name);
  if (method == nullptr) {
    PETREL_LOG(Error, "there is no method '%s'", std::string(name).c_str());
    return Error::NotFound;
  }
  const auto values = is_input ? method->inputs() : method->outputs();
  PETREL_RETURN_IF_ERROR(check_index(is_input ? "input" : "output", index, values.size()));
  return Teller(*this, name, is_input, index)
      .levels_of(method->value(static_cast<uint32_t>(values[index])).as_tensor());
}

bool ProgramLevels::is_told_by(std::string_view name) const {
  const std::optional<Told> told = parse_told(name);
  if (!told || !number(name)) return false;
  const MethodView* const method = find(told->method);
  if (method == nullptr) return false;
  return told->index < (told->is_input ? method->inputs() : method->outputs()).size();
}

Result<std::optional<Levels>> input_levels(const Program& program, std::string_view method,
                                           size_t index) {
  return ProgramLevels(program).input(method, index);
}

Result<std::optional<Levels>> output_levels(const Program& program, std::string_view method,
                                            size_t index) {
  return ProgramLevels(program).output(method, index);
}

}  // namespace petrel::extension
