// SPDX-License-Identifier: Apache-2.0
//
// The check of an option that takes a number. CLI::Range compares, and takes what compares with
// nothing: "nan".
//
//   verb->add_option("--seconds", seconds, "how long")->check(number_in(0.0, 3600.0));
#ifndef PETREL_EXTENSION_CLI_NUMBER_IN_H_
#define PETREL_EXTENSION_CLI_NUMBER_IN_H_

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace petrel::extension {

inline CLI::Validator number_in(double least, double most) {
  CLI::Validator range = CLI::Range(least, most);
  const CLI::Validator compared = range;
  range.operation([compared](std::string& text) {
    double number = 0;
    const bool is_read = CLI::detail::lexical_cast(text, number);
    return is_read && std::isnan(number) ? text + " is not a number" : compared(text);
  });
  return range;
}

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_NUMBER_IN_H_
