// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>

#include "extension/cli/completion.h"
#include "extension/cli/verb.h"

namespace petrel::extension {

void add_completion_verb(CLI::App& app, int* exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "Print what completes words in a shell");
  verb->add_option("shell", *shell, "the shell")
      ->required()
      ->type_name("bash|zsh|fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->footer(
      "Examples:\n"
      "  eval \"$(petrel completion bash)\"                                  # in ~/.bashrc\n"
      "  petrel completion zsh > \"${fpath[1]}/_petrel\"\n"
      "  petrel completion fish > ~/.config/fish/completions/petrel.fish");
  verb->callback([&app, shell, exit_code] {
    const std::string script = *shell == "bash"  ? bash_completion(app)
                               : *shell == "zsh" ? zsh_completion(app)
                                                 : fish_completion(app);
    std::fputs(script.c_str(), stdout);
    *exit_code = kDone;
  });
}

}  // namespace petrel::extension
