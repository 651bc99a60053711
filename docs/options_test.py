# SPDX-License-Identifier: Apache-2.0
"""The tables of options in docs/export.md and docs/portable_c.md are those of export_options.cc and
generate_options.cc."""

import subprocess
import unittest

BEGIN, END = "<!-- options -->\n", "<!-- end of options -->\n"


class OptionDocsTest(unittest.TestCase):

    def check(self, page, mode):
        wanted = subprocess.run(["extension/export/write_options", mode], check=True,
                                text=True, stdout=subprocess.PIPE).stdout
        with open(page, encoding="utf-8") as file:
            text = file.read()
        found = text.partition(BEGIN)[2].partition(END)[0]
        if found != wanted:
            self.fail(f"{page}: between '{BEGIN.strip()}' and '{END.strip()}' must be what "
                      f"`./bazelw run //extension/export:write_options -- {mode}` prints:\n\n"
                      + wanted)

    def test_pages_have_the_tables(self):
        self.check("docs/export.md", "--docs")
        self.check("docs/portable_c.md", "--gen-c-docs")


if __name__ == "__main__":
    unittest.main()
