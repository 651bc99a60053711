# SPDX-License-Identifier: Apache-2.0
"""The table of options in docs/export.md is that of export_options.cc."""

import subprocess
import unittest

PAGE = "docs/export.md"
BEGIN, END = "<!-- options -->\n", "<!-- end of options -->\n"


class OptionDocsTest(unittest.TestCase):

    def test_page_has_the_table(self):
        wanted = subprocess.run(["extension/export/write_options", "--docs"], check=True,
                                text=True, stdout=subprocess.PIPE).stdout
        with open(PAGE, encoding="utf-8") as page:
            text = page.read()
        found = text.partition(BEGIN)[2].partition(END)[0]
        if found != wanted:
            self.fail(f"{PAGE}: between '{BEGIN.strip()}' and '{END.strip()}' must be what "
                      "`./bazelw run //extension/export:write_options -- --docs` prints:\n\n"
                      + wanted)


if __name__ == "__main__":
    unittest.main()
