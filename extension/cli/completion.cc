// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/completion.h"

#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace petrel::extension {
namespace {

using Verbs = std::vector<std::string>;

// All subcommands, in the order in which they were added.
std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_name().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (!takes_value(option)) return {};
  // What CLI::IsMember appends.
  const size_t brace = type.find('{');
  if (brace != std::string::npos) {
    return absl::StrSplit(type.substr(brace + 1, type.find('}') - brace - 1), ',');
  }
  if (type.find('|') == std::string::npos) return {};
  return absl::StrSplit(type, '|');
}

// "--output -o".
std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> all;
  for (const std::string& name : option.get_lnames()) all.push_back("--" + name);
  for (const std::string& name : option.get_snames()) all.push_back("-" + name);
  return all;
}

// The first line of a text, with nothing in it that ends a quoted word.
std::string one_line(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\n", " "}, {"'", ""}, {"[", "("}, {"]", ")"}, {":", ","}});
}

// Calls `visit` with the path of verbs, "" first, then "data", "data list".
void for_each_app(const CLI::App& app, const Verbs& path,
                  const std::function<void(const Verbs&, const CLI::App&)>& visit) {
  visit(path, app);
  for (const CLI::App* verb : verbs_of(app)) {
    Verbs longer = path;
    longer.push_back(verb->get_name());
    for_each_app(*verb, longer, visit);
  }
}

std::string names_of_verbs(const CLI::App& app) {
  return absl::StrJoin(verbs_of(app), " ", [](std::string* out, const CLI::App* verb) {
    out->append(verb->get_name());
  });
}

// Each line of compgen is one offer: names of files have spaces and stars.
constexpr char kBashFunction[] = R"(_NAME_offer() {
  mapfile -t COMPREPLY < <(compgen "$@")
}
_NAME() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local path= verbs= options= values= is_value= i word
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    _NAME_words "$path"
    [[ -n $word && " $verbs " == *" $word "* ]] && path="${path:+$path }$word"
  done
  _NAME_words "$path"
  _NAME_value "$path" "$previous"
  if [[ -n $is_value && -n $values ]]; then
    _NAME_offer -W "$values" -- "$current"
  elif [[ -z $is_value && $current == -* ]]; then
    _NAME_offer -W "$options" -- "$current"
  elif [[ -z $is_value && -n $verbs ]]; then
    _NAME_offer -W "$verbs" -- "$current"
  else
    _NAME_offer -f -- "$current"
  fi
}
complete -o filenames -F _NAME NAME
)";

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string tables, choices;
  for_each_app(app, {}, [&](const Verbs& path, const CLI::App& here) {
    std::vector<std::string> words;
    for (const CLI::Option* option : options_of(here)) {
      for (const std::string& word : spellings(*option)) words.push_back(word);
      const std::vector<std::string> values = choices_of(*option);
      if (!takes_value(*option)) continue;
      absl::StrAppend(
          &choices, "    '", absl::StrJoin(path, " "), "':",
          absl::StrJoin(spellings(*option), absl::StrCat("|'", absl::StrJoin(path, " "), "':")),
          ") values='", absl::StrJoin(values, " "), "'; is_value=1 ;;\n");
    }
    absl::StrAppend(&tables, "    '", absl::StrJoin(path, " "), "') verbs='", names_of_verbs(here),
                    "'; options='", absl::StrJoin(words, " "), "' ;;\n");
  });
  const std::string name = app.get_name();
  return absl::StrCat("_", name, "_words() {\n  case \"$1\" in\n", tables, "  esac\n}\n_", name,
                      "_value() {\n  case \"$1:$2\" in\n", choices, "  esac\n}\n",
                      absl::StrReplaceAll(kBashFunction, {{"NAME", name}}));
}

std::string zsh_completion(const CLI::App& app) {
  const std::string name = app.get_name();
  std::string script = absl::StrCat("#compdef ", name, "\n");
  for_each_app(app, {}, [&](const Verbs& path, const CLI::App& here) {
    const std::string function =
        absl::StrCat("_", name, path.empty() ? "" : "_", absl::StrJoin(path, "_"));
    absl::StrAppend(&script, function, "() {\n  local line state\n  _arguments -C");
    for (const CLI::Option* option : options_of(here)) {
      for (const std::string& word : spellings(*option)) {
        absl::StrAppend(&script, " \\\n    '*", word, "[", one_line(option->get_description()),
                        "]");
        const std::vector<std::string> values = choices_of(*option);
        if (takes_value(*option)) {
          absl::StrAppend(
              &script, ":value:",
              values.empty() ? "_files" : absl::StrCat("(", absl::StrJoin(values, " "), ")"));
        }
        script += "'";
      }
    }
    if (verbs_of(here).empty()) {
      absl::StrAppend(&script, " \\\n    '*:file:_files'\n}\n");
      return;
    }
    absl::StrAppend(&script, " \\\n    '1:verb:((");
    for (const CLI::App* verb : verbs_of(here)) {
      absl::StrAppend(&script, " ", verb->get_name(), "\\:\"", one_line(verb->get_description()),
                      "\"");
    }
    absl::StrAppend(&script, "))' \\\n    '*::argument:->rest'\n  case $line[1] in\n");
    for (const CLI::App* verb : verbs_of(here)) {
      absl::StrAppend(&script, "    ", verb->get_name(), ") ", function, "_", verb->get_name(),
                      " ;;\n");
    }
    absl::StrAppend(&script, "  esac\n}\n");
  });
  return absl::StrCat(script, "compdef _", name, " ", name, "\n");
}

std::string fish_completion(const CLI::App& app) {
  const std::string name = app.get_name();
  std::string script;
  for_each_app(app, {}, [&](const Verbs& path, const CLI::App& here) {
    // After these verbs, and before any that may follow.
    std::vector<std::string> conditions;
    for (const std::string& verb : path) {
      conditions.push_back("__fish_seen_subcommand_from " + verb);
    }
    const std::string next = names_of_verbs(here);
    std::vector<std::string> before = conditions;
    if (!next.empty()) before.push_back("not __fish_seen_subcommand_from " + next);
    const std::string line = absl::StrCat("complete -c ", name, " -n '");
    for (const CLI::App* verb : verbs_of(here)) {
      absl::StrAppend(&script, line, absl::StrJoin(before, "; and "), "' -f -a ", verb->get_name(),
                      " -d '", one_line(verb->get_description()), "'\n");
    }
    if (conditions.empty()) conditions.push_back("true");
    for (const CLI::Option* option : options_of(here)) {
      absl::StrAppend(&script, line, absl::StrJoin(conditions, "; and "), "'");
      for (const std::string& word : option->get_lnames()) absl::StrAppend(&script, " -l ", word);
      for (const std::string& word : option->get_snames()) absl::StrAppend(&script, " -s ", word);
      const std::vector<std::string> values = choices_of(*option);
      if (takes_value(*option))
        absl::StrAppend(&script, values.empty() ? " -r" : " -x -a '", absl::StrJoin(values, " "),
                        values.empty() ? "" : "'");
      absl::StrAppend(&script, " -d '", one_line(option->get_description()), "'\n");
    }
  });
  return script;
}

}  // namespace petrel::extension
