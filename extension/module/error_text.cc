// SPDX-License-Identifier: Apache-2.0
#include "extension/module/error_text.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "runtime/core/log.h"
#include "runtime/platform/process_mutex.h"

namespace petrel::extension {

using runtime::LogLevel;

namespace {

thread_local ErrorText* innermost = nullptr;

struct Sink {
  runtime::ProcessMutex mutex;
  LogSink to;
};

Sink& sink() {
  // Never destroyed: threads may log until the process ends.
  static Sink* const sink = new Sink;
  return *sink;
}

void write(void*, LogLevel level, const char* message) {
  if (level == LogLevel::Error && innermost != nullptr) innermost->add(message);
  LogSink to;
  {
    const std::lock_guard<runtime::ProcessMutex> lock(sink().mutex);
    to = sink().to;
  }
  // Without the lock, so that a sink may take its time.
  if (to.write != nullptr) to.write(to.context, static_cast<int32_t>(level), message);
}

void take_over_log() {
  static std::once_flag once;
  std::call_once(once, [] { runtime::set_log_hook({&write, nullptr}); });
}

}  // namespace

ErrorText::ErrorText() : outer_(innermost) {
  take_over_log();
  innermost = this;
}

ErrorText::~ErrorText() { innermost = outer_; }

void ErrorText::add(const char* message) {
  if (size_ > 0 && size_ + 1 < kMaxText) text_[size_++] = '\n';
  const size_t length = std::min(std::strlen(message), kMaxText - 1 - size_);
  std::memcpy(text_ + size_, message, length);
  size_ += length;
  text_[size_] = '\0';
}

void set_log_sink(LogSink to) {
  take_over_log();
  const std::lock_guard<runtime::ProcessMutex> lock(sink().mutex);
  sink().to = to;
}

std::string printable(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string printed;
  // Controls of two bytes, U+0080 to U+009F, begin with this one.
  constexpr unsigned char kLead = 0xc2;
  bool is_second = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool is_first = byte == kLead && next >= 0x80 && next < 0xa0;
    const bool is_control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    if (!is_control && !is_first && !is_second) {
      printed += text[i];
    } else {
      printed += "\\x";
      printed += kDigits[byte >> 4];
      printed += kDigits[byte & 15];
    }
    is_second = is_first;
  }
  return printed;
}

std::string shown(std::string_view message) {
  std::string text = printable(message.substr(0, kMaxShown));
  if (message.size() > kMaxShown) {
    text += " ... and " + std::to_string(message.size() - kMaxShown) + " bytes more";
  }
  return text;
}

}  // namespace petrel::extension
