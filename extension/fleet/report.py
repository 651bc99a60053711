# SPDX-License-Identifier: Apache-2.0
"""Reports what became of a fleet of exports, and ends with 1 when one of them failed.

    ./bazelw build --keep_going //models:zoo
    ./bazelw run //extension/fleet:report -- bazel-bin/models/zoo.fleet.json --last zoo.json
"""

import argparse
import os
import pathlib
import sys

import fleet_report


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Reports what became of a fleet of exports: sizes, delegated nodes, times, "
                    "failures with their reasons. Ends with 1 when one failed, with 2 when a file "
                    "cannot be read.")
    parser.add_argument("list", help="NAME.fleet.json, as petrel_pte_fleet writes it")
    parser.add_argument("--last", metavar="FILE.json",
                        help="the last report, to tell what changed since then; is replaced by this")
    arguments = parser.parse_args()
    # Paths are the user's, who is not where `bazel run` starts the program.
    start = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    try:
        models = fleet_report.read_fleet(start / arguments.list)
        changes = None
        last = start / arguments.last if arguments.last else None
        if last and last.exists():
            changes = fleet_report.changed(fleet_report.from_json(last), models)
        print(fleet_report.text(models, changes), end="")
        if last:
            new = last.with_name(last.name + ".part")
            new.write_text(fleet_report.to_json(models), encoding="utf-8")
            new.replace(last)
    except (fleet_report.WrongFile, OSError) as error:
        print(fleet_report.printable(f"report: {error}"), file=sys.stderr)
        return 2
    return 1 if any(export.error is not None for export in models.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
