// SPDX-License-Identifier: Apache-2.0
//
// Turns: threads that work with one thing, one after another.
//
//   const Turns::Turn turn(&turns, "the program");      // waits without Python's lock
//   ... works ...
//
// Work may call Python, and that may work with another such thing: two threads can wait for what
// the other one has. Who would close such a circle, or waits for its own turn, gets an error
// instead, so that the others go on. What is known of turns is read and written with
// Python's lock held.
#ifndef PETREL_EXTENSION_PYTHON_TURNS_H_
#define PETREL_EXTENSION_PYTHON_TURNS_H_

#include <mutex>
#include <string>
#include <thread>

namespace petrel::extension::python {

class Turns final {
 public:
  Turns() = default;
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Precondition, also where it ends: Python's lock is held.
  class Turn {
   public:
    // Raises petrel.Error, code InvalidState, where this thread would wait for itself.
    Turn(Turns* turns, const std::string& what);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Turns& turns_;
  };

  // In the child of fork(), which has none of the threads that wait.
  static void forget_waiting();

 private:
  // Whether `thread` has the turn that this one waits for in the end.
  bool waits_for(std::thread::id thread) const;
  void wait(std::thread::id thread);

  std::mutex mutex_;
  std::thread::id owner_;  // of nobody: no thread
};

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_TURNS_H_
