// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/refusals.h"

#include <fstream>
#include <sstream>

#include "runtime/core/log.h"
#include "runtime/kernels/portable/recorded_call.h"
#include "runtime/kernels/portable/wrong_calls.h"

namespace petrel::runtime {
namespace {

// What outputs may grow by, so that it is not their memory that ends most wrong calls.
constexpr int32_t kSpareRows = 8;

bool refused(const std::string& digits, size_t i) {
  const char digit = digits[i / 4];
  const int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
  return (value >> (3 - i % 4) & 1) != 0;
}

}  // namespace

Refusals refusals_of(const FindKernel& find) {
  const LogHook hook = set_log_hook(LogHook{});
  Refusals table;
  for (const test::EagerCase& right : test::load_eager_cases(kRecordedCalls)) {
    const Kernel* kernel = find(right.call->function);
    if (kernel == nullptr) continue;
    std::string& digits = table[right.name];
    unsigned digit = 0;
    size_t count = 0;
    for (const WrongCall& wrong : wrong_calls(right)) {
      const Error error = RecordedCall(wrong.call, kSpareRows).call(*kernel);
      digit = (digit << 1 | (error != Error::Ok ? 1u : 0u)) & 15;
      if (++count % 4 == 0) {
        digits += "0123456789abcdef"[digit];
      }
    }
    if (count % 4 != 0) digits += "0123456789abcdef"[(digit << (4 - count % 4)) & 15];
  }
  set_log_hook(hook);
  return table;
}

Refusals kept_refusals() {
  Refusals table;
  std::ifstream file(kRefusals);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, digits;
    if (words >> name >> digits && name[0] != '#') table[name] = digits;
  }
  return table;
}

std::vector<std::string> differences(const Refusals& kept, const Refusals& found) {
  std::vector<std::string> texts;
  for (const test::EagerCase& right : test::load_eager_cases(kRecordedCalls)) {
    const auto before = kept.find(right.name), now = found.find(right.name);
    if (before == kept.end() || now == found.end() || before->second == now->second) continue;
    const std::vector<WrongCall> calls = wrong_calls(right);
    if (before->second.size() != now->second.size()) {
      texts.push_back(right.name + ": has other wrong calls");
      continue;
    }
    for (size_t i = 0; i < calls.size() && texts.size() < 20; ++i) {
      if (refused(before->second, i) == refused(now->second, i)) continue;
      texts.push_back(
          right.name + ": " + calls[i].change +
          (refused(now->second, i) ? ": is refused, was taken" : ": is taken, was refused"));
    }
  }
  return texts;
}

}  // namespace petrel::runtime
