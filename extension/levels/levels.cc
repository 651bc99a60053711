// SPDX-License-Identifier: Apache-2.0
#include "extension/levels/levels.h"

#include <cinttypes>
#include <cmath>
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
using runtime::TensorInfo;
using runtime::ValueView;

constexpr const char* kNumbers[] = {"scale", "zp", "quant_min", "quant_max", "dtype"};

// The value that the method `name` returns, if it is one that takes nothing and does nothing.
std::optional<ValueView> number_told(const Program& program, const std::string& name) {
  const std::optional<MethodView> method = program.view().find_method(name);
  if (!method || !method->inputs().empty() || method->outputs().size() != 1 ||
      method->chain(0).num_instructions() != 0) {
    return std::nullopt;
  }
  return method->value(method->outputs()[0]);
}

// The numbers of one input or output.
class Teller {
 public:
  Teller(const Program& program, std::string_view method, bool is_input, size_t index)
      : program_(program) {
    const std::string place = (is_input ? "input" : "output") + std::to_string(index) + "_";
    prefix_ = std::string(method) + "_" + place;
    // ExecuTorch's passes leave the name away unless they are given one.
    if (method == "forward" && !number_told(program, prefix_ + "scale")) prefix_ = place;
  }

  bool tells(const char* what) const { return number_told(program_, prefix_ + what).has_value(); }

  // In [least, most]; `otherwise` where nothing is told.
  Result<int32_t> whole(const char* what, int64_t least, int64_t most, int64_t otherwise) const {
    const std::optional<ValueView> value = number_told(program_, prefix_ + what);
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
    const std::optional<ValueView> value = number_told(program_, prefix_ + "scale");
    const double scale = value && value->tag() == Tag::Double ? value->as_double() : 0;
    if (!std::isnormal(static_cast<float>(scale)) || scale < 0) {
      PETREL_LOG(Error, "method '%sscale' tells %g, must be a double that is a positive scale",
                 prefix_.c_str(), scale);
      return Error::InvalidProgram;
    }
    return scale;
  }

 private:
  const Program& program_;
  std::string prefix_;
};

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

Result<std::optional<Levels>> levels_of(const Result<TensorInfo>& info, const Teller& teller) {
  // Not of a tensor: it has none.
  if (!info.ok()) return std::optional<Levels>();
  const std::optional<Width> width = width_of(info->scalar_type());
  if (!width || !teller.tells("scale") || !teller.tells("zp")) return std::optional<Levels>();
  Levels levels;
  levels.type = info->scalar_type();
  const auto type = static_cast<int64_t>(levels.type);
  PETREL_RETURN_IF_ERROR(teller.whole("dtype", type, type, type).error());
  PETREL_ASSIGN_OR_RETURN(levels.scale, teller.scale());
  PETREL_ASSIGN_OR_RETURN(levels.least,
                          teller.whole("quant_min", width->least, width->most, width->least));
  PETREL_ASSIGN_OR_RETURN(levels.most,
                          teller.whole("quant_max", levels.least, width->most, width->most));
  PETREL_ASSIGN_OR_RETURN(levels.zero_point, teller.whole("zp", width->least, width->most, 0));
  return std::optional<Levels>(levels);
}

Error check_index(const char* what, size_t index, size_t count) {
  if (index < count) return Error::Ok;
  PETREL_LOG(Error, "%s is %zu, must be below %zu", what, index, count);
  return Error::InvalidArgument;
}

}  // namespace

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

Result<std::optional<Levels>> input_levels(const Program& program, std::string_view method,
                                           size_t index) {
  PETREL_ASSIGN_OR_RETURN(const runtime::MethodMeta meta, program.method_meta(method));
  PETREL_RETURN_IF_ERROR(check_index("input", index, meta.num_inputs()));
  return levels_of(meta.input_tensor_meta(index), Teller(program, method, true, index));
}

Result<std::optional<Levels>> output_levels(const Program& program, std::string_view method,
                                            size_t index) {
  PETREL_ASSIGN_OR_RETURN(const runtime::MethodMeta meta, program.method_meta(method));
  PETREL_RETURN_IF_ERROR(check_index("output", index, meta.num_outputs()));
  return levels_of(meta.output_tensor_meta(index), Teller(program, method, false, index));
}

bool tells_levels(const Program& program, std::string_view name) {
  if (!number_told(program, std::string(name))) return false;
  for (uint32_t m = 0; m < program.view().num_methods(); ++m) {
    const MethodView method = program.view().method(m);
    for (const bool is_input : {true, false}) {
      const size_t count = is_input ? method.inputs().size() : method.outputs().size();
      for (size_t i = 0; i < count; ++i) {
        const std::string place = (is_input ? "input" : "output") + std::to_string(i) + "_";
        for (const char* number : kNumbers) {
          if (name == std::string(method.name()) + "_" + place + number) return true;
          if (method.name() == "forward" && name == place + number) return true;
        }
      }
    }
  }
  return false;
}

}  // namespace petrel::extension
