// SPDX-License-Identifier: Apache-2.0
#include "test/refusals/refusal_counts.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace petrel::refusals {
namespace {

constexpr char kComment[] = "# damaged file | how many | what they are refused with\n";
constexpr size_t kMostCharacters = 160;
constexpr int kMostShown = 20;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

// Lines of `some` that are not in `others`.
std::string only_in(const std::set<std::string>& some, const std::set<std::string>& others) {
  std::string out;
  int shown = 0;
  for (const std::string& line : some) {
    if (others.count(line) != 0) continue;
    if (++shown <= kMostShown) out += "  " + line + "\n";
  }
  if (shown > kMostShown) out += "  and " + std::to_string(shown - kMostShown) + " more\n";
  return out;
}

void write_to_tree(const std::string& table, const std::string& text) {
  const char* const tree = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  ASSERT_NE(tree, nullptr) << "only `bazel run` knows where the working tree is";
  std::ofstream out(std::string(tree) + "/" + table, std::ios::binary);
  out << text;
  out.close();
  ASSERT_TRUE(out.good()) << table << " cannot be written";
}

}  // namespace

std::string words_of(const std::string& message) {
  std::string out;
  for (size_t i = 0; i < message.size() && out.size() < kMostCharacters;) {
    const char c = message[i];
    const bool begins = i == 0 || !is_word(message[i - 1]);
    if ((c == '\'' || c == '"') && begins) {
      const size_t end = message.find(c, i + 1);
      if (end != std::string::npos) {
        out += std::string(1, c) + "_" + c;
        i = end + 1;
        continue;
      }
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 && begins) {
      out += '_';
      while (i < message.size() && (is_word(message[i]) || message[i] == '.')) ++i;
      continue;
    }
    out += std::isprint(static_cast<unsigned char>(c)) != 0 && c != '|' ? c : '?';
    ++i;
  }
  return out;
}

void RefusalCounts::add(const std::string& seed, const std::string& message) {
  ++counts_[{seed, message.empty() ? "taken" : words_of(message)}];
}

std::string RefusalCounts::text() const {
  std::string out = kComment;
  for (const auto& [key, count] : counts_) {
    out += key.first + " | " + std::to_string(count) + " | " + key.second + "\n";
  }
  return out;
}

void RefusalCounts::expect_as_recorded() const {
  if (std::getenv("PETREL_WRITE_REFUSALS") != nullptr) return write_to_tree(table_, text());
  std::ifstream in(table_, std::ios::binary);
  ASSERT_TRUE(in.good()) << table_ << " is not there";
  const std::string recorded{std::istreambuf_iterator<char>(in), {}};
  const std::set<std::string> now = lines_of(text());
  const std::set<std::string> before = lines_of(recorded);
  EXPECT_TRUE(now == before) << table_ << " has\n"
                             << only_in(before, now) << "and this test counted\n"
                             << only_in(now, before)
                             << "If that is meant, write the table anew (refusal_counts.h).";
}

}  // namespace petrel::refusals
