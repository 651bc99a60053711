# SPDX-License-Identifier: Apache-2.0
"""What became of the exports of a fleet, from the status files that they wrote.

    models = read_fleet(pathlib.Path("bazel-bin/models/zoo.fleet.json"))
    models["llm"].error                        # None
    changes = changed(last, models)            # {"llm": "program 3,792 -> 3,800 bytes"}

Invariant: every model of the list is among the results, also one whose action left no status.
"""

import dataclasses
import json
import pathlib
from typing import Dict, List, Optional

NO_STATUS = "has no status: its action failed or did not run"
MAX_BYTES = 16 << 20


class WrongFile(Exception):
    """A file that is none of a fleet; says which and why."""


@dataclasses.dataclass(frozen=True)
class Export:
    """One model; sizes in bytes. All numbers are 0 where there is an error."""
    error: Optional[str] = None
    warnings: int = 0
    program: int = 0
    data: int = 0
    arena: int = 0
    delegated: int = 0
    nodes: int = 0
    seconds: float = 0.0

    def __post_init__(self):
        """Files may hold anything: TypeError names a field that is none of an export."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "error":
                right = value is None or isinstance(value, str)
            elif field.name == "seconds":
                right = isinstance(value, (int, float)) and 0 <= value < 1e18
            else:
                right = isinstance(value, int) and 0 <= value < 1 << 63
            if not right:
                raise TypeError(f"a right {field.name}")


def read_json(path: pathlib.Path) -> dict:
    """An object, or WrongFile."""
    try:
        if path.exists() and not path.is_file():
            raise WrongFile(f"{path}: is no regular file")
        if path.stat().st_size > MAX_BYTES:
            raise WrongFile(f"{path}: has {path.stat().st_size} bytes, must have at most {MAX_BYTES}")
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise WrongFile(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise WrongFile(f"{path}: is no JSON object")
    return found


def export_of(status: dict) -> Export:
    """From a status file of `petrel export --status`."""
    warnings = len(status["warnings"])
    if status["error"] is not None:
        return Export(error=status["error"], warnings=warnings)
    report = status["report"]
    methods = report["methods"]
    delegated = sum(taken["nodes"] for method in methods for taken in method["delegated"])
    left = sum(len(method["not_delegated"]) for method in methods)
    files = dict(report["file_bytes"])
    return Export(warnings=warnings, program=files.pop("program"), data=sum(files.values()),
                  arena=sum(sum(method["arena_bytes"]) for method in methods),
                  delegated=delegated, nodes=delegated + left,
                  seconds=sum(report["seconds"].values()))


def read_fleet(listing: pathlib.Path) -> Dict[str, Export]:
    """The models of a list NAME.fleet.json by their names."""
    fleet = read_json(listing)
    if "models" not in fleet:
        raise WrongFile(f"{listing}: is no list of a fleet, such as bazel-bin/zoo.fleet.json")
    if not isinstance(fleet["models"], dict):
        raise WrongFile(f"{listing}: its models are no object")
    found = {}
    for name, file in fleet["models"].items():
        if not isinstance(file, str) or "\0" in file:
            raise WrongFile(f"{listing}: the status of {name!r} is no name of a file")
        path = listing.parent / file
        if not path.exists():
            found[name] = Export(error=NO_STATUS)
            continue
        try:
            found[name] = export_of(read_json(path))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise WrongFile(f"{path}: is no status of an export, lacks {error}") from error
    return found


def _difference(before: Export, now: Export) -> str:
    if before.error is None and now.error is not None:
        return "fails now"
    if before.error is not None and now.error is None:
        return "is exported now"
    if now.error is not None:
        return "" if before.error == now.error else "fails for another reason"
    parts = []
    for what, unit in (("program", " bytes"), ("data", " bytes"), ("arena", " bytes"),
                       ("delegated", " nodes"), ("nodes", ""), ("warnings", "")):
        old, new = getattr(before, what), getattr(now, what)
        if old != new:
            parts.append(f"{what} {old:,} -> {new:,}{unit}")
    return ", ".join(parts)


def changed(last: Dict[str, Export], models: Dict[str, Export]) -> Dict[str, str]:
    """What is different, by the names of models; times are not compared."""
    changes = {}
    for name in sorted({*last, *models}):
        if name not in last:
            text = "is new"
        elif name not in models:
            text = "is gone"
        else:
            text = _difference(last[name], models[name])
        if text:
            changes[name] = text
    return changes


def printable(text: str) -> str:
    """As a terminal may have it: what it would obey is written as \\xNN, but for ends of lines."""
    return "".join(c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode()
                   for c in text)


def to_json(models: Dict[str, Export]) -> str:
    """To be read with from_json at the next report."""
    return json.dumps({"exports": {name: dataclasses.asdict(export)
                                   for name, export in models.items()}}, indent=1) + "\n"


def from_json(path: pathlib.Path) -> Dict[str, Export]:
    """What an earlier report kept."""
    try:
        return {name: Export(**fields) for name, fields in read_json(path)["exports"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise WrongFile(f"{path}: is no earlier report: {error}") from error


def _table(models: Dict[str, Export]) -> List[str]:
    rows = [("model", "program", "data", "arena", "delegated", "seconds")]
    for name, export in sorted(models.items()):
        if export.error is None:
            rows.append((name, f"{export.program:,}", f"{export.data:,}", f"{export.arena:,}",
                         f"{export.delegated} of {export.nodes}", f"{export.seconds:.3f}"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0])] +
                      [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])
            for row in rows]


def text(models: Dict[str, Export], changes: Optional[Dict[str, str]]) -> str:
    """The report; `changes` is None when there is no earlier one."""
    lines = _table(models)
    failed = {name: export for name, export in sorted(models.items()) if export.error is not None}
    for name, export in failed.items():
        lines.append(f"FAILED {name}: " + export.error.replace("\n", "\n    "))
    for name, change in (changes or {}).items():
        lines.append(f"changed {name}: {change}")
    good = [export for export in models.values() if export.error is None]
    written = sum(export.program + export.data for export in good)
    since = "" if changes is None else f", {len(changes)} changed"
    lines.append(f"{len(good)} exported, {len(failed)} failed{since}; {written:,} bytes, "
                 f"{sum(export.seconds for export in good):.1f} s of exports")
    return printable("\n".join(lines) + "\n")
