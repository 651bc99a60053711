// SPDX-License-Identifier: Apache-2.0
//
// Messages of the runtime go nowhere while this lives; the last is kept.
#ifndef PETREL_TEST_CONFORMANCE_QUIET_LOG_H_
#define PETREL_TEST_CONFORMANCE_QUIET_LOG_H_

#include <mutex>
#include <string>

#include "runtime/core/log.h"

namespace petrel::conformance {

class QuietLog {
 public:
  QuietLog() : before_(runtime::set_log_hook({&write, this})) {}
  ~QuietLog() { runtime::set_log_hook(before_); }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;

  std::string last() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return last_;
  }
  // All of them, one per line.
  std::string all() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return all_;
  }

 private:
  static void write(void* self, runtime::LogLevel, const char* message) {
    auto* const log = static_cast<QuietLog*>(self);
    const std::lock_guard<std::mutex> lock(log->mutex_);
    log->last_ = message;
    if (log->all_.size() < 1 << 16) log->all_ += log->last_ + "\n";
  }

  runtime::LogHook before_;
  std::mutex mutex_;
  std::string last_;
  std::string all_;
};

}  // namespace petrel::conformance

#endif  // PETREL_TEST_CONFORMANCE_QUIET_LOG_H_
