// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/shared_work.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "runtime/platform/processors.h"

namespace petrel::exir {

size_t work_threads() {
  static const size_t count = runtime::usable_processors();
  return count;
}

SharedWork::SharedWork(size_t pieces, size_t helpers, Work work)
    : pieces_(pieces), work_(std::move(work)) {
  helpers_.reserve(std::min(helpers, pieces));
  while (helpers_.size() < std::min(helpers, pieces)) {
    try {
      helpers_.emplace_back([this] { take_part(); });
    } catch (const std::system_error&) {
      break;  // a limit of processes; those that are there do it all
    }
  }
}

SharedWork::~SharedWork() {
  next_ = pieces_;
  wait_for_helpers();
}

void SharedWork::finish() {
  take_part();
  wait_for_helpers();
}

// Stops at the first number behind the last piece, so next_ grows beyond it by one for each thread.
void SharedWork::take_part() {
  for (size_t piece = next_++; piece < pieces_; piece = next_++) work_(piece);
}

void SharedWork::wait_for_helpers() {
  for (std::thread& helper : helpers_) helper.join();
  helpers_.clear();
}

}  // namespace petrel::exir
