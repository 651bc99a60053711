// SPDX-License-Identifier: Apache-2.0
#include "extension/python/turns.h"

#include <map>

#include "extension/python/error.h"
#include "extension/python/gil.h"

namespace petrel::extension::python {
namespace {

// Never destroyed: threads may wait until the process ends.
std::map<std::thread::id, const Turns*>& waiting() {
  static auto* const waiting = new std::map<std::thread::id, const Turns*>;
  return *waiting;
}

}  // namespace

Turns::Turn::Turn(Turns* turns, const std::string& what) : turns_(*turns) {
  stay_if_closing();
  const std::thread::id self = std::this_thread::get_id();
  if (turns->owner_ == self) {
    raise_error("InvalidState", what + " is called from within its own call");
  }
  if (!turns->mutex_.try_lock()) {
    if (turns->waits_for(self)) {
      raise_error("InvalidState",
                  what +
                      " is at work for another thread, which waits for one that this thread "
                      "is in a call of: the two would wait for each other for ever");
    }
    turns->wait(self);
  }
  turns->owner_ = self;
}

Turns::Turn::~Turn() {
  turns_.owner_ = std::thread::id();
  turns_.mutex_.unlock();
}

// Nobody waits in a circle, so each step comes to another thread.
bool Turns::waits_for(std::thread::id thread) const {
  const Turns* at = this;
  while (at->owner_ != std::thread::id() && at->owner_ != thread) {
    const auto next = waiting().find(at->owner_);
    if (next == waiting().end()) return false;
    at = next->second;
  }
  return at->owner_ == thread;
}

void Turns::wait(std::thread::id thread) {
  struct Waiting {
    Waiting(std::thread::id id, const Turns* turns) : id(id) { waiting()[id] = turns; }
    ~Waiting() { waiting().erase(id); }
    const std::thread::id id;
  } const known(thread, this);
  without_gil([this] { mutex_.lock(); });
  // Others wait for the turn of a thread that stays where it is.
  if (is_closing()) mutex_.unlock();
  stay_if_closing();
}

void Turns::forget_waiting() { waiting().clear(); }

}  // namespace petrel::extension::python
