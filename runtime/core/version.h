// SPDX-License-Identifier: Apache-2.0
//
// Which Petrel this is: what `petrel --version`, petrel_version() of the C API and
// petrel.__version__ of Python say.
#ifndef PETREL_RUNTIME_CORE_VERSION_H_
#define PETREL_RUNTIME_CORE_VERSION_H_

namespace petrel {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace petrel

#endif  // PETREL_RUNTIME_CORE_VERSION_H_
