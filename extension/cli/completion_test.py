# SPDX-License-Identifier: Apache-2.0
"""Scripts of `petrel completion`: bash runs its own, the others are read."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

PETREL = "extension/cli/petrel"


def output(*words):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE).stdout


def options(*verbs):
    """The long options in the help of a verb."""
    return set(re.findall(r"(?<=[ ,])--[a-z][a-z0-9-]*", output(PETREL, *verbs, "--help")
                          .partition("Options:")[2].partition("Examples:")[0]))


def complete(*words, folder=None):
    """What bash offers for the last of `words` in a folder."""
    script = (output(PETREL, "completion", "bash")
              + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _petrel\n'
              + 'printf "%s\\n" "${COMPREPLY[@]}"\n')
    offered = subprocess.run(["bash", "-c", script, "bash", *words], check=True, text=True,
                             stdout=subprocess.PIPE, cwd=folder).stdout
    return set(offered.split("\n")) - {""}


class CompletionTest(unittest.TestCase):

    def test_bash_completes_verbs(self):
        self.assertIn("export", complete("petrel", ""))
        self.assertEqual(complete("petrel", "exp"), {"export"})
        self.assertEqual(complete("petrel", "data", ""), {"list", "split", "merge", "build"})

    def test_bash_completes_options_of_the_verb(self):
        for verbs in (["export"], ["run"], ["data", "merge"]):
            self.assertLessEqual(options(*verbs), complete("petrel", *verbs, "--"), verbs)
        self.assertEqual(complete("petrel", "export", "m.pt2", "--weight"), {"--weight-keys"})
        self.assertNotIn("--weight-keys", complete("petrel", "run", "--"))

    def test_bash_completes_choices_and_files(self):
        self.assertEqual(complete("petrel", "export", "--weight-keys", ""), {"content", "name"})
        self.assertEqual(complete("petrel", "completion", "--help"), {"--help"})
        self.assertEqual(complete("petrel", "export", "--output", "extension/cl"),
                         {"extension/cli"})
        self.assertEqual(complete("petrel", "run", "extension/cl"), {"extension/cli"})

    def test_bash_completes_files_whose_names_have_spaces_and_stars(self):
        names = {"a b.pte", "a*.pte", "a'\"$(x).pte", "aü.pte"}
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                pathlib.Path(folder, name).touch()
            for words in (["run", "a"], ["run", "--data", "a"]):
                self.assertEqual(complete("petrel", *words, folder=folder), names)
            # No file is offered where only words are taken.
            self.assertEqual(complete("petrel", "export", "--weight-keys", "a", folder=folder),
                             set())

    def test_scripts_name_every_verb_and_option(self):
        for shell in ("zsh", "fish"):
            script = output(PETREL, "completion", shell)
            for verb in ("export", "run", "inspect", "verify", "bench", "opt", "data", "plan",
                         "tune"):
                self.assertRegex(script, rf"\b{verb}\b")
            for option in options("export") | options("run") | options("data", "split"):
                name = option if shell == "zsh" else f"-l {option[2:]} "
                self.assertIn(name, script, shell)
            self.assertIn("content name", script)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], check=True, text=True, input=script)

    def test_other_shells_are_wrong_usage(self):
        done = subprocess.run([PETREL, "completion", "csh"], stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
