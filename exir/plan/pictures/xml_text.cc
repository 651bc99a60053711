// SPDX-License-Identifier: Apache-2.0
#include "exir/plan/pictures/xml_text.h"

#include "absl/strings/str_replace.h"

namespace petrel::exir::plan {

std::string xml_text(absl::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return absl::StrReplaceAll(plain,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace petrel::exir::plan
