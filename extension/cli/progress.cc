// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace petrel::extension {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kQuiet(2);
constexpr std::chrono::milliseconds kStep(500);

Progress* current = nullptr;

}  // namespace

Progress::Progress(std::string verb) : verb_(std::move(verb)) {
  if (isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { watch(); });
  current = this;
}

Progress::~Progress() {
  stop();
  current = nullptr;
}

void Progress::stop_current() {
  if (current != nullptr) current->stop();
}

void Progress::start(const std::string& phase) {
  const std::lock_guard<std::mutex> lock(mutex_);
  phase_ = phase;
  if (phase.empty()) erase_line();
}

void Progress::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_done_ = true;
  }
  changed_.notify_one();
  thread_.join();
  erase_line();
}

void Progress::erase_line() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
  is_shown_ = false;
}

void Progress::watch() {
  const Clock::time_point begin = Clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!changed_.wait_for(lock, kStep, [this] { return is_done_; })) {
    const auto elapsed = Clock::now() - begin;
    if (elapsed < kQuiet || phase_.empty()) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
    // To the start of the line, and its rest is erased.
    std::fprintf(stderr, "\rpetrel %s: %s, %lld s\x1b[K", verb_.c_str(), phase_.c_str(),
                 static_cast<long long>(seconds));
    is_shown_ = true;
  }
}

}  // namespace petrel::extension
