// SPDX-License-Identifier: Apache-2.0
//
// How an option is said, whatever it is an option of: one row in a table, from which a verb
// of the command, the keywords of a function of Python, the attributes of a Bazel rule and a
// table of docs/ come.
//
//   {"weight-keys", OptionKind::kChoice, {"content", "name"}, "content", "with name, ..."}
//
//   --weight-keys name      weight_keys="name"      weight_keys = "name"
//
// Rows live as long as the process.
#ifndef PETREL_EXTENSION_EXPORT_OPTION_ROW_H_
#define PETREL_EXTENSION_EXPORT_OPTION_ROW_H_

#include <map>
#include <string>
#include <vector>

namespace petrel::extension {

enum class OptionKind {
  kFlag,       // given or not
  kChoice,     // one of `choices`
  kText,       // any text but an empty one
  kBytes,      // a size: bytes, or "500MB", "2GiB"
  kDataFile,   // a .ptd file to write
  kDataFiles,  // GLOB=FILE.ptd, may be repeated
  kTexts,      // texts, may be repeated
};

// What was given for one option: a word per value, none for a flag.
using Words = std::vector<std::string>;
// What was given, by name of the option.
using OptionWords = std::map<std::string, Words>;

struct OptionRow {
  const char* name;  // "weight-keys": --weight-keys, weight_keys in Python and Bazel
  OptionKind kind;
  std::vector<std::string> choices;
  const char* default_word;  // what counts when the option is not given; "" for nothing
  const char* help;
};

// "weight_keys" for "weight-keys".
std::string identifier_of(const OptionRow& option);

// What the user writes behind --name: "BYTES", "none|some" for a choice; "" for a
// flag.
std::string operand_of(const OptionRow& option);

// "" when `word` is a value of the option, else what is wrong: "must be a or b, is 'x'".
std::string check_word(const OptionRow& option, const std::string& word);

// The same of all that was given for the option: one word, or as many as its kind takes.
std::string check_words(const OptionRow& option, const Words& words);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_OPTION_ROW_H_
