// SPDX-License-Identifier: Apache-2.0
//
// Text as XML has it, for pictures of names that users, files and devices chose.
//
//   xml_text("a<b")   "a&lt;b"
#ifndef PETREL_EXIR_PLAN_PICTURES_XML_TEXT_H_
#define PETREL_EXIR_PLAN_PICTURES_XML_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace petrel::exir::plan {

// Control characters, which cannot stand in XML at all, become spaces.
std::string xml_text(absl::string_view text);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_PICTURES_XML_TEXT_H_
