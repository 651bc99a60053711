// SPDX-License-Identifier: Apache-2.0
//
// Small faults to put into a program, one at a time, and the node that each is in: a weight,
// a scale, an argument of an operator, a kernel that is another's, and the same inside of
// XNNPACK's payloads.
//
//   for (const Fault& fault : faults_of(bytes)) {
//     run(with(bytes, fault));       fault.place is "0:4" or, in a payload, "0:4/3"
//   }
//
// Only what one node uses is changed, so that there is one right answer. A program with a
// fault may be refused, or compute what it did before: that is for the caller to see.
#ifndef PETREL_TEST_DIFF_PLANTED_FAULTS_H_
#define PETREL_TEST_DIFF_PLANTED_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace petrel::test {

struct Fault {
  enum class Kind {
    kWeight,
    kScale,
    kArgument,
    kKernel,
    kPayloadWeight,
    kPayloadScale,
    kPayloadClamp,
    kPayloadKernel
  };
  Kind kind = Kind::kWeight;
  std::string place;
  std::string what;  // for messages
  size_t offset = 0;
  std::vector<uint8_t> bytes;
};

// Of the first method of a `.pte` with everything inside.
std::vector<Fault> faults_of(const std::string& program);

std::string with(std::string program, const Fault& fault);

const char* to_string(Fault::Kind kind);

}  // namespace petrel::test

#endif  // PETREL_TEST_DIFF_PLANTED_FAULTS_H_
