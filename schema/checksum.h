// SPDX-License-Identifier: Apache-2.0
//
// The one checksum of 64 bits that is not cryptographic: it finds mistakes and
// tells configurations apart, and whoever chooses the bytes can choose its value.
// Keys and digests of weights are SHA-256. Equal on every machine; reads each
// byte once, at the speed of memory.
//
//   uint64_t sum = checksum(name.data(), name.size());
//   sum = checksum(data, size, sum);  // of both
#ifndef PETREL_SCHEMA_CHECKSUM_H_
#define PETREL_SCHEMA_CHECKSUM_H_

#include <cstddef>
#include <cstdint>

namespace petrel::schema {

uint64_t checksum(const void* data, size_t size, uint64_t seed = 0);

}  // namespace petrel::schema

#endif  // PETREL_SCHEMA_CHECKSUM_H_
