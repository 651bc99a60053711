# SPDX-License-Identifier: Apache-2.0
"""Runs a command and reports its wall time and peak memory as JSON.

  python3 -I -S measured.py REPORT.json COMMAND...

A process started straight from a large one counts that one's memory as its own
peak, because the kernel carries it over on exec. This small one stands between.
"""

import json
import os
import sys
import time


def main() -> int:
    report, command = sys.argv[1], sys.argv[2:]
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error}", file=sys.stderr)
        os._exit(127)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    with open(report, "w", encoding="utf-8") as file:
        json.dump({"seconds": seconds, "peak_rss_mb": usage.ru_maxrss / 1024}, file)
    return os.waitstatus_to_exitcode(status) & 0xFF


if __name__ == "__main__":
    sys.exit(main())
