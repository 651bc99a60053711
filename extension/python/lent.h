// SPDX-License-Identifier: Apache-2.0
//
// Lent: an object of C++ that Python may use while it is called, and no longer.
//
//   py::object lent = py::cast(Lent<Store>(&store, "the store", "preprocess"));
//   { const TakenBack<Store> taken(lent);        // when the call ends, however it does
//     backend.attr("preprocess")(lent); }
//
//   bool add(Lent<Store>& lent, ...) {           // a function that Python calls
//     const Lent<Store>::Use store(lent);        // raises when it was taken back
//     return store->add(...);
//   }
//
// Python code may run within a use, and another thread meanwhile: the call may end before the use
// does. Who takes the object back waits for uses that are under way, so that it lives as long as
// they do. All functions are called with Python's lock held.
#ifndef PETREL_EXTENSION_PYTHON_LENT_H_
#define PETREL_EXTENSION_PYTHON_LENT_H_

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "extension/python/error.h"
#include "extension/python/gil.h"

namespace petrel::extension::python {

template <typename T>
class Lent {
 public:
  // Messages say that `what` is there during `call` only. No thing may be lent, too.
  Lent(T* thing, std::string what, std::string call)
      : thing_(thing),
        what_(std::move(what)),
        call_(std::move(call)),
        generation_(fork_generation()) {}

  class Use {
   public:
    // Raises petrel.Error where there is no thing.
    explicit Use(Lent& lent) : lent_(lent), thing_(lent.thing_) {
      if (thing_ == nullptr) {
        raise_error("InvalidState", lent.what_ + " is there during " + lent.call_ + " only");
      }
      ++lent_.uses_;
    }
    ~Use() { --lent_.uses_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    T* operator->() const { return thing_; }

   private:
    Lent& lent_;
    T* thing_;
  };

  void take_back() {
    thing_ = nullptr;
    // A process that was forked meanwhile has none of the other threads.
    while (uses_ > 0 && generation_ == fork_generation()) give_others_the_lock();
  }

 private:
  T* thing_;
  std::string what_;
  std::string call_;
  int generation_;
  int uses_ = 0;
};

// Takes back what `lent`, a Lent<T> that Python has, lends.
template <typename T>
class TakenBack {
 public:
  explicit TakenBack(const pybind11::object& lent) : lent_(lent.cast<Lent<T>&>()) {}
  ~TakenBack() { lent_.take_back(); }
  TakenBack(const TakenBack&) = delete;
  TakenBack& operator=(const TakenBack&) = delete;

 private:
  Lent<T>& lent_;
};

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_LENT_H_
