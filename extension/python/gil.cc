// SPDX-License-Identifier: Apache-2.0
#include "extension/python/gil.h"

#include <chrono>
#include <thread>

#include "extension/python/error.h"

namespace petrel::extension::python {
namespace {

// All are read and written with the lock held.
int active = 0;
bool closing = false;
std::thread::id closer;
int generation = 0;

}  // namespace

void stay_if_closing() {
  if (closing && std::this_thread::get_id() == closer) {
    raise_error("InvalidState", "the interpreter is shutting down");
  }
  if (closing) {
    // A thread that Python does not wait for. An exception would be printed by
    // an interpreter that is going; so it stays here until the process ends.
    PyEval_SaveThread();
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

bool is_closing() { return closing; }

void begin_without_gil() {
  stay_if_closing();
  ++active;
}

void end_without_gil() { --active; }

void give_others_the_lock() {
  PyThreadState* const state = PyEval_SaveThread();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
}

void close() {
  closing = true;
  closer = std::this_thread::get_id();
  while (active > 0) give_others_the_lock();
}

int fork_generation() { return generation; }

void after_fork_in_child() {
  ++generation;
  active = 0;
}

}  // namespace petrel::extension::python
