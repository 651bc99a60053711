// SPDX-License-Identifier: Apache-2.0
#include "test/eager/eager_tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace petrel::test {
namespace {

// Integers up to here are doubles.
constexpr int64_t kExact = int64_t{1} << 53;

struct ElementType {
  const char* word;
  int8_t number;
  bool is_float;  // no more digits than a float needs
  int64_t lowest = 0;
  int64_t highest = 0;  // both 0 for floating point
};

constexpr ElementType kTypes[] = {
    {"u8", 0, false, 0, 255},
    {"i8", 1, false, -128, 127},
    {"i16", 2, false, -32768, 32767},
    {"i32", 3, false, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()},
    {"i64", 4, false, -kExact, kExact},
    {"f16", 5, true},
    {"f32", 6, true},
    {"f64", 7, false},
    {"bool", 11, false, 0, 1},
    {"bf16", 15, true},
};

absl::Status wrong_type(absl::string_view word) {
  return absl::InvalidArgumentError(absl::StrCat("'", word, "' is not a type of tensors"));
}

// "1,2,3" up to `close`, which it consumes as well. Numbers from 0 to 2^31 - 1.
bool parse_sizes(absl::string_view* text, char close, std::vector<int64_t>* sizes) {
  const size_t length = text->find(close);
  if (length == absl::string_view::npos) return false;
  const absl::string_view list = text->substr(0, length);
  text->remove_prefix(length + 1);
  if (list.empty()) return true;
  for (const absl::string_view item : absl::StrSplit(list, ',')) {
    int32_t size = 0;
    if (!absl::SimpleAtoi(item, &size) || size < 0) return false;
    sizes->push_back(size);
  }
  return true;
}

// Reads "f32[2,3]{1,0}" into `tensor`; null when it is not a type.
const ElementType* parse_type(absl::string_view text, EagerTensor* tensor) {
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& one) {
    absl::string_view rest = text;
    return absl::ConsumePrefix(&rest, one.word) && absl::ConsumePrefix(&rest, "[");
  });
  if (type == std::end(kTypes)) return nullptr;
  tensor->scalar_type = type->number;
  text.remove_prefix(text.find('[') + 1);
  if (!parse_sizes(&text, ']', &tensor->sizes)) return nullptr;
  std::vector<int64_t> order;
  for (size_t i = 0; i < tensor->sizes.size(); ++i) order.push_back(static_cast<int64_t>(i));
  const std::vector<int64_t> plain = order;
  if (absl::ConsumePrefix(&text, "{")) {
    order.clear();
    if (!parse_sizes(&text, '}', &order)) return nullptr;
    if (!std::is_permutation(order.begin(), order.end(), plain.begin(), plain.end())) {
      return nullptr;
    }
  }
  tensor->dim_order.assign(order.begin(), order.end());
  return text.empty() ? type : nullptr;
}

bool parse_element(absl::string_view word, const ElementType& type, double* element) {
  if (type.highest != 0) {
    int64_t whole = 0;
    if (!absl::SimpleAtoi(word, &whole) || whole < type.lowest || whole > type.highest) {
      return false;
    }
    *element = static_cast<double>(whole);
    return true;
  }
  if (type.is_float) {
    float value = 0;
    if (!absl::SimpleAtof(word, &value)) return false;
    *element = value;
  } else if (!absl::SimpleAtod(word, element)) {
    return false;
  }
  return !std::isinf(*element) || word == "inf" || word == "-inf";
}

}  // namespace

absl::StatusOr<EagerTensor> parse_eager_tensor(absl::string_view text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (words.size() < 2) return absl::InvalidArgumentError("expected a tensor's name and type");
  EagerTensor tensor;
  tensor.name = std::string(words[0]);
  const ElementType* type = parse_type(words[1], &tensor);
  if (type == nullptr) return wrong_type(words[1]);
  const size_t given = words.size() - 2;
  int64_t wanted = 1;
  for (const int64_t size : tensor.sizes) {
    if (__builtin_mul_overflow(wanted, size, &wanted)) return wrong_type(words[1]);
  }
  if (given != static_cast<uint64_t>(wanted)) {
    return absl::InvalidArgumentError(
        absl::StrCat(words[1], " has ", wanted, " elements, found ", given));
  }
  tensor.elements.reserve(given);
  for (size_t i = 2; i < words.size(); ++i) {
    double element = 0;
    if (!parse_element(words[i], *type, &element)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", words[i], "' is not an element of ", type->word));
    }
    tensor.elements.push_back(element);
  }
  return tensor;
}

}  // namespace petrel::test
