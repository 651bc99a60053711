# SPDX-License-Identifier: Apache-2.0
"""A Windows of wine that stays for many programs.

    with windows_session.started(folder):
        subprocess.run(["wine", "app.exe"])

It is set up once, in `folder`. Else wine boots one for each program and ends it again, which
takes ten times as long as a small program, and minutes the first time on a busy machine.
"""

import contextlib
import os
import pathlib
import subprocess
from typing import Iterator


@contextlib.contextmanager
def started(folder: pathlib.Path) -> Iterator[None]:
    os.environ.update(WINEPREFIX=str(folder), WINEDEBUG="-all",
                      # No menus of a desktop, no .NET and no browser.
                      WINEDLLOVERRIDES="winemenubuilder.exe,mscoree,mshtml=")
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
             "stderr": subprocess.DEVNULL}
    try:
        subprocess.run(["wine", "wineboot", "--init"], check=True, **quiet)
        # What sets it up ends its server, too.
        subprocess.run(["wineserver", "--wait"], check=True)
        subprocess.run(["wineserver", "--persistent"], check=True, **quiet)
        # Its services, which would else have the output of the first program.
        subprocess.run(["wine", "wineboot"], check=True, **quiet)
        yield
    finally:
        subprocess.run(["wineserver", "--kill"], check=False)
