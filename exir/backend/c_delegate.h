// SPDX-License-Identifier: Apache-2.0
//
// What a partition is in generated C (exir/emit_c): calls of three functions, of a driver that
// the application links, or of C that the backend writes for this very partition. Both get the
// payload and the named blobs as linked symbols (runtime/micro/model/petrel_delegate.h).
//
//   CDelegate delegate;                   NullNpu_init(), NullNpu_execute(), NullNpu_destroy()
//   delegate.driver = "null_npu";         null_npu_init(), ...
//   delegate.source = "static int32_t kws_delegate_0_init(...) {...}";
//                                         kws_delegate_0_init(), ..., which the source defines
//   delegate.room_bytes = 64;             that init() gets, and execute() through its handle
#ifndef PETREL_EXIR_BACKEND_C_DELEGATE_H_
#define PETREL_EXIR_BACKEND_C_DELEGATE_H_

#include <cstdint>
#include <set>
#include <string>

namespace petrel::exir {

struct CDelegate {
  // Begins the names of the functions of the driver; "" where there is `source`.
  std::string driver;
  // C99, of static functions only, which begin with the prefix that the backend was given. What
  // it includes besides petrel_delegate.h is in `includes`: "math.h".
  std::string source;
  std::set<std::string> includes;
  // Memory of the context, aligned as uint64_t is, that is the delegate's from init to destroy.
  int64_t room_bytes = 0;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_C_DELEGATE_H_
