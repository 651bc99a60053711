// SPDX-License-Identifier: Apache-2.0
#include "test/eager/case_file.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace petrel::test {
namespace {

absl::Status invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

// The names that a call mentions.
void add_names(const std::vector<CallArgument>& arguments, std::vector<std::string>* names) {
  for (const CallArgument& argument : arguments) {
    if (const auto* one = std::get_if<TensorName>(&argument)) names->push_back(one->name);
    if (const auto* list = std::get_if<TensorNames>(&argument)) {
      for (const std::string& name : list->names) {
        if (!name.empty()) names->push_back(name);
      }
    }
  }
}

void add_names(const std::vector<EagerTensor>& tensors, std::set<std::string>* names) {
  for (const EagerTensor& tensor : tensors) names->insert(tensor.name);
}

// A call names tensors of its case, and writes each expected one.
absl::Status check_call(const EagerCase& one) {
  std::vector<std::string> read;
  std::vector<std::string> written;
  add_names(one.call->arguments, &read);
  add_names(one.call->outputs, &written);
  std::set<std::string> given;
  std::set<std::string> expected;
  add_names(one.inputs, &given);
  add_names(one.constants, &given);
  add_names(one.expected, &expected);
  for (const std::string& name : given) expected.erase(absl::StrCat(name, kAfter));
  for (const std::string& name : read) {
    if (given.count(name) == 0) return invalid(absl::StrCat("no line for tensor '", name, "'"));
  }
  for (const std::string& name : written) {
    if (expected.erase(name) == 0) {
      return invalid(absl::StrCat("no line expects output '", name, "', or it is twice"));
    }
  }
  if (expected.empty()) return absl::OkStatus();
  return invalid(absl::StrCat("the call does not write '", *expected.begin(), "'"));
}

// Builds the cases from lines.
class Builder {
 public:
  absl::Status add_line(absl::string_view line) {
    if (in_graph_ && line != "end" && !absl::StartsWith(line, "case ")) {
      absl::StrAppend(&cases_.back().graph, line, "\n");
      return absl::OkStatus();
    }
    if (line.empty() || absl::StartsWith(line, "#")) return absl::OkStatus();
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    const auto& [kind, rest] = parts;
    if (!announced_) return announce(kind, rest);
    if (kind == "case") return begin(rest);
    if (!open_) return invalid(absl::StrCat("expected 'case', found '", kind, "'"));
    EagerCase& one = cases_.back();
    if (kind == "end") return end();
    if (one.call) return invalid(absl::StrCat("expected 'end', found '", kind, "'"));
    if (kind == "input") return add_tensor(rest, &one.inputs);
    if (kind == "constant") return add_tensor(rest, &one.constants);
    if (kind == "expect") return add_tensor(rest, &one.expected);
    if (kind == "call") return add_call(rest);
    if (kind != "graph" || !rest.empty()) return invalid(absl::StrCat("unknown line '", line, "'"));
    in_graph_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<EagerCase>> finish() {
    if (open_) return invalid(absl::StrCat("case '", cases_.back().name, "' has no end"));
    if (!announced_) return invalid("no line says how many cases there are");
    if (cases_.size() == *announced_) return std::move(cases_);
    return invalid(absl::StrCat(cases_.size(), " cases, announced are ", *announced_));
  }

 private:
  absl::Status announce(absl::string_view kind, absl::string_view rest) {
    uint64_t count = 0;
    if (kind != "cases" || !absl::SimpleAtoi(rest, &count) || count == 0) {
      return invalid(
          absl::StrCat("expected 'cases' and their number, found '", kind, " ", rest, "'"));
    }
    announced_ = count;
    return absl::OkStatus();
  }

  absl::Status begin(absl::string_view name) {
    if (open_) return invalid(absl::StrCat("case '", cases_.back().name, "' has no end"));
    if (name.empty()) return invalid("a case without a name");
    if (!names_.emplace(name).second) return invalid(absl::StrCat("a second case '", name, "'"));
    cases_.emplace_back();
    cases_.back().name = std::string(name);
    tensors_.clear();
    open_ = true;
    return absl::OkStatus();
  }

  absl::Status add_tensor(absl::string_view text, std::vector<EagerTensor>* list) {
    absl::StatusOr<EagerTensor> tensor = parse_eager_tensor(text);
    if (!tensor.ok()) return tensor.status();
    if (!tensors_.insert(tensor->name).second) {
      return invalid(absl::StrCat("a second tensor '", tensor->name, "'"));
    }
    list->push_back(*std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status add_call(absl::string_view text) {
    absl::StatusOr<EagerCall> call = parse_eager_call(text);
    if (!call.ok()) return call.status();
    cases_.back().call = *std::move(call);
    return check_call(cases_.back());
  }

  absl::Status end() {
    const EagerCase& one = cases_.back();
    if (!one.call && one.graph.empty()) {
      return invalid(absl::StrCat("case '", one.name, "' has neither a graph nor a call"));
    }
    open_ = in_graph_ = false;
    return absl::OkStatus();
  }

  std::vector<EagerCase> cases_;
  std::optional<uint64_t> announced_;
  std::set<std::string> names_;
  std::set<std::string> tensors_;  // of the last case
  bool open_ = false;              // the last case
  bool in_graph_ = false;
};

}  // namespace

absl::StatusOr<std::vector<EagerCase>> parse_eager_cases(absl::string_view text,
                                                         absl::string_view path) {
  Builder builder;
  size_t number = 0;
  const auto in_place = [&](const absl::Status& status) {
    return invalid(absl::StrCat(path, ":", number, ": ", status.message()));
  };
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    ++number;
    const absl::Status status = builder.add_line(line);
    if (!status.ok()) return in_place(status);
  }
  auto cases = builder.finish();
  if (!cases.ok()) return in_place(cases.status());
  return cases;
}

std::vector<EagerCase> load_eager_cases(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  auto cases = file.good() ? parse_eager_cases(text.str(), path)
                           : absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  if (cases.ok()) return *std::move(cases);
  std::fprintf(stderr, "%s\n", std::string(cases.status().message()).c_str());
  std::exit(1);
}

void PrintTo(const EagerCase& one, std::ostream* out) { *out << one.name; }

}  // namespace petrel::test
