# SPDX-License-Identifier: Apache-2.0
"""Counts the test cases of a run: count.py FOLDER.

For each step FOLDER holds NAME.status, its exit status, and either NAME.json,
the build events of a `bazel test`, or NAME.log, whose last line of the form
"N passed, N failed" counts. A test program without a list of cases counts as
one; so does a target that cannot be built. A step that ended badly counts as at
least one failure. Prints one line for each failure and the sum last.
"""
import json
import os
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


class Count:

    def __init__(self):
        self.passed = 0
        self.skipped = 0
        self.failures = []


def count_cases(path, label, count):
    """Adds the cases of one test.xml; returns (cases, failures) added."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return 0, 0
    cases = failures = 0
    for case in root.iter("testcase"):
        if case.get("status") == "notrun":
            continue
        cases += 1
        if case.find("failure") is not None or case.find("error") is not None:
            failures += 1
            count.failures.append("%s %s" % (label, case.get("name")))
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            count.skipped += 1
        else:
            count.passed += 1
    return cases, failures


def count_bazel(path, count):
    """Adds the targets of one file of build events."""
    attempts = {}  # (label, run, shard) -> the last attempt's (status, xml)
    unbuilt = set()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            identity = event["id"]
            if "testResult" in identity:
                key = identity["testResult"]
                result = event.get("testResult", {})
                xml = [o.get("uri", "") for o in result.get("testActionOutput", [])
                       if o.get("name") == "test.xml"]
                attempts[key["label"], key.get("run", 1), key.get("shard", 1)] = (
                    result.get("status", "NO_STATUS"), xml[0] if xml else "")
            for kind in ("targetCompleted", "targetConfigured", "pattern"):
                if kind in identity:
                    good = event.get("completed", {}).get("success") \
                        if kind == "targetCompleted" else "aborted" not in event
                    if not good:
                        key = identity[kind]
                        unbuilt.add(key.get("label") or " ".join(key["pattern"]))
    for (label, _, _), (status, xml) in sorted(attempts.items()):
        unbuilt.discard(label)
        cases, failures = count_cases(
            urllib.parse.unquote(urllib.parse.urlparse(xml).path), label, count)
        if status in ("PASSED", "FLAKY"):
            if cases == 0:
                count.passed += 1
        elif failures == 0:
            count.failures.append("%s %s" % (label, status.lower()))
    count.failures += ["%s cannot be built" % label for label in sorted(unbuilt)]


def count_log(path, name, count):
    """Adds the numbers that a step printed last."""
    with open(path, encoding="utf-8", errors="replace") as log:
        sums = re.findall(r"^(\d+) passed, (\d+) failed", log.read(), re.M)
    if not sums:
        count.failures.append("%s printed no result" % name)
        return
    passed, failed = map(int, sums[-1])
    count.passed += passed
    count.failures += ["%s, failure %d" % (name, i + 1) for i in range(failed)]


def main(folder):
    count = Count()
    for entry in sorted(os.listdir(folder)):
        name, extension = os.path.splitext(entry)
        if extension != ".status":
            continue
        failures = len(count.failures)
        base = os.path.join(folder, name)
        if os.path.exists(base + ".json"):
            count_bazel(base + ".json", count)
        elif os.path.exists(base + ".log"):
            count_log(base + ".log", name, count)
        with open(base + ".status", encoding="utf-8") as status:
            code = status.read().strip()
        if code != "0" and len(count.failures) == failures:
            count.failures.append("%s ended with %s" % (name, code))
    for failure in count.failures:
        print("failed: " + failure)
    if count.skipped:
        print("skipped: %d" % count.skipped)
    print("%d passed, %d failed" % (count.passed, len(count.failures)))
    return 1 if count.failures or count.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
