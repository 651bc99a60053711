// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/comment_text.h"

namespace petrel::exir::emit_c {
namespace {

// Control characters would end lines, and what is not ASCII can turn the direction of text. A
// backslash joins lines, and so may the spaces behind one.
char inert(char c) {
  if (c == '\\') return '/';
  return c >= ' ' && c <= '~' ? c : '_';
}

bool means_something(char before, char c) {
  return (before == '*' && c == '/') || (before == '/' && c == '*') ||
         (before == '/' && c == '/') || (before == '?' && c == '?');
}

}  // namespace

std::string comment_text(absl::string_view text) {
  std::string result;
  for (const char given : text) {
    const char c = inert(given);
    // Of what was written, so that no replacement makes what another one took apart.
    if (!result.empty() && means_something(result.back(), c)) result += ' ';
    result += c;
  }
  return result;
}

}  // namespace petrel::exir::emit_c
