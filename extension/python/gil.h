// SPDX-License-Identifier: Apache-2.0
//
// When C++ holds Python's lock (the GIL), and when it must not.
//
//   Result<...> out = without_gil([&] { return module->execute(...); });
//   { const Gil gil; callback(); }        // inside of it, on any thread
//
// What runs without the lock is counted: close() makes the interpreter wait for
// it before it ends, and stops threads that come later, so that none wakes up in
// an interpreter that is gone.
#ifndef PETREL_EXTENSION_PYTHON_GIL_H_
#define PETREL_EXTENSION_PYTHON_GIL_H_

#include <pybind11/pybind11.h>

#include <utility>

namespace petrel::extension::python {

// Holds the lock while it lives.
class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

// With the lock held. When the interpreter is ending it raises petrel.Error in the thread that
// called close(), and never returns in others: they must hold nothing that a thread waits for.
void stay_if_closing();
bool is_closing();

// Both with the lock held; the first stays as above.
void begin_without_gil();
void end_without_gil();

// What `work` returns. Precondition: the lock is held.
template <typename Work>
auto without_gil(Work work) {
  begin_without_gil();
  PyThreadState* const state = PyEval_SaveThread();
  struct Restore {
    ~Restore() noexcept(false) {
      PyEval_RestoreThread(state);
      end_without_gil();
    }
    PyThreadState* state;
  } restore{state};
  return work();
}

// Other threads run for a moment: for who waits in a loop. With the lock held.
void give_others_the_lock();

// Waits for all work that is under way, and lets no more begin.
void close();

// How often this process came out of fork() since Python started. What was made
// before cannot be used after: its threads are gone.
int fork_generation();
void after_fork_in_child();

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_GIL_H_
