// SPDX-License-Identifier: Apache-2.0
//
// Programs made of the fuzzer's choices (call_program.h), run with the optimized and
// with the portable kernels: both answer alike, or neither does. Of programs with one
// call the numbers agree as well, NaN as NaN, and those of XNNPACK where that has the
// operator (delegated_call.h).

#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "runtime/executor/registry.h"
#include "runtime/kernels/narrow/narrow_float.h"
#include "test/fuzz/call_program.h"
#include "test/fuzz/delegated_call.h"
#include "test/fuzz/oracle.h"
#include "test/fuzz/program_run.h"

namespace petrel::fuzz {
namespace {

using runtime::Error;
using runtime::ScalarType;

// Beside the largest number of the result: sums are in another order.
double tolerance_of(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
      return 4e-3;
    case ScalarType::BFloat16:
      return 3e-2;
    case ScalarType::Float:
      return 1e-4;
    case ScalarType::Double:
      return 1e-9;
    default:
      return 0;
  }
}

double element(const OutputCopy& output, size_t i) {
  const uint8_t* const bytes = output.bytes.data();
  if (output.type == ScalarType::Float) {
    float value;
    std::memcpy(&value, bytes + i * sizeof(value), sizeof(value));
    return value;
  }
  if (output.type == ScalarType::Double) {
    double value;
    std::memcpy(&value, bytes + i * sizeof(value), sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, bytes + i * sizeof(bits), sizeof(bits));
  return output.type == ScalarType::Half ? runtime::half_value(bits)
                                         : runtime::bfloat16_value(bits);
}

// Of padding and an infinite weight eager makes NaN or nothing, by the library that it calls. What
// a mask hides kernels may leave out, where eager makes NaN of an infinite value. With
// `nan_or_number` either will do.
bool agree(const OutputCopy& a, const OutputCopy& b, bool nan_or_number = false) {
  if (a.tag != b.tag || a.type != b.type || a.sizes != b.sizes) return false;
  if (a.tag != runtime::Tag::Tensor) {
    return a.number == b.number || (std::isnan(a.number) && std::isnan(b.number));
  }
  const double tolerance = tolerance_of(a.type);
  if (tolerance == 0) return a.bytes == b.bytes;
  const size_t count = a.bytes.size() / runtime::element_size(a.type);
  double largest = 1e-3;
  for (size_t i = 0; i < count; ++i) {
    const double value = std::fabs(element(b, i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  for (size_t i = 0; i < count; ++i) {
    const double x = element(a, i), y = element(b, i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (nan_or_number && (std::isnan(x) || std::isnan(y))) continue;
    if (x == y || std::fabs(x - y) <= tolerance * largest) continue;
    std::fprintf(stderr, "element %zu is %g, and %g portable\n", i, x, y);
    return false;
  }
  return true;
}

// What a single call of it computes is a matter of its arguments.
bool has_one_answer(const faults::Recipe& recipe) {
  if (recipe.plans.size() != 1 || recipe.plans[0].chains[0].size() != 1) return false;
  // A number that only a double holds is infinite to vectors of floats, and to eager.
  for (const faults::ValueRecipe& value : recipe.plans[0].values) {
    if (value.type == faults::fb::KernelTypes::Double && std::fabs(value.number) > 3e38 &&
        std::isfinite(value.number)) {
      return false;
    }
  }
  const std::string& name = *recipe.plans[0].operators[0].name;
  return name.find("rand") == std::string::npos && name.find("dropout") == std::string::npos;
}

bool has_factors_of_zero(const faults::Recipe& recipe) {
  const std::string& name = *recipe.plans[0].operators[0].name;
  return name.find("convolution") != std::string::npos ||
         name.find("attention") != std::string::npos || name.find("sdpa") != std::string::npos;
}

// Empty, or how the results contradict each other.
const char* contradiction(const faults::Recipe& recipe, const ProgramResult& optimized,
                          const ProgramResult& portable, bool with_numbers) {
  if (optimized.load != portable.load) return "kernels decide whether a program loads";
  if (optimized.calls.size() != portable.calls.size()) return "kernels decide how often one runs";
  for (size_t i = 0; i < optimized.calls.size(); ++i) {
    const Call& a = optimized.calls[i];
    const Call& b = portable.calls[i];
    // Each set counts its own work.
    if (a.error == Error::OutOfResources || b.error == Error::OutOfResources) return "";
    if ((a.error == Error::Ok) != (b.error == Error::Ok)) return "one set refuses a call";
    if (!with_numbers) return "";
    for (size_t k = 0; k < a.outputs.size(); ++k) {
      if (!agree(a.outputs[k], b.outputs[k], has_factors_of_zero(recipe))) {
        return "the two sets of kernels differ";
      }
    }
  }
  return "";
}

// The same by a delegate, whose kernels need not agree about what is not a number:
// only the first execution has none.
const char* compare_delegated(const faults::Recipe& recipe, const ProgramResult& portable,
                              const runtime::Registry& all, const runtime::Limits& limits) {
  const std::optional<faults::Recipe> delegated = delegated_call(recipe);
  if (!delegated || portable.calls.empty() || portable.calls[0].error != Error::Ok) return "";
  const std::vector<uint8_t> file = faults::build(*delegated);
  const ProgramResult result = run_program(file.data(), file.size(), all, limits);
  if (result.load != Error::Ok || result.calls.empty())
    return "a delegate decides whether it loads";
  const Call& call = result.calls[0];
  // An output may lie over an input for kernels only.
  if (call.error == Error::OutOfResources || call.error == Error::InvalidProgram) return "";
  if (call.error != Error::Ok) return "a delegate refuses what kernels compute";
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (!agree(call.outputs[i], portable.calls[0].outputs[i])) return "a delegate differs";
  }
  return "";
}

}  // namespace
}  // namespace petrel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel;
  const faults::Recipe recipe = fuzz::call_program(fuzz::Choices(data, size));
  const std::vector<uint8_t> file = faults::build(recipe);
  const runtime::Registry& all = runtime::default_registry();
  const runtime::Limits limits = fuzz::small_limits();
  const fuzz::ProgramResult optimized = fuzz::run_program(file.data(), file.size(), all, limits);
  const fuzz::ProgramResult portable =
      fuzz::run_program(file.data(), file.size(), fuzz::reference_registry(all), limits);
  const bool has_one_answer = fuzz::has_one_answer(recipe);
  const char* what = fuzz::contradiction(recipe, optimized, portable, has_one_answer);
  if (*what == '\0' && has_one_answer) {
    what = fuzz::compare_delegated(recipe, portable, all, limits);
  }
  if (*what != '\0') std::fputs(fuzz::describe(recipe).c_str(), stderr);
  fuzz::require(*what == '\0', what);
  return 0;
}
