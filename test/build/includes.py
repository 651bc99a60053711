# SPDX-License-Identifier: Apache-2.0
"""Whom a file includes: what Bazel's edges do not tell.

A target may name a library for one header and include another one that comes
along through it. So every `#include "room/folder/header.h"` is an edge of its
own: the rooms must allow it, and a target that includes a header must name the
target that owns it.

    exir/driver/structure.cc   includes exir/backend/backend.h
    //exir/driver:driver       must name //exir/backend:backend in its deps

And a source includes the header of its own name first, so that the header
compiles alone, and the headers of the functions of Abseil that it calls: what comes
along in one version of a library does not in the next (CALLED).

"//exir/driver:driver: exir/driver/structure.cc includes exir/backend/backend.h,
and deps does not name its owner" is a line of violations().
"""
import collections
import os
import re

import rooms

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
KINDS = ("cc_binary", "cc_library", "cc_test")
ENDINGS = (".c", ".cc", ".h")
# Functions of Abseil, and the header that a file has for them, or its own header.
CALLED = {
    "absl/strings/str_cat.h": re.compile(r"\babsl::Str(Cat|Append)\("),
    "absl/strings/str_format.h": re.compile(r"\babsl::Str(Append)?Format\("),
    "absl/strings/str_join.h": re.compile(r"\babsl::StrJoin\("),
    "absl/strings/str_split.h": re.compile(r"\babsl::StrSplit\("),
    "absl/strings/match.h": re.compile(r"\babsl::(StartsWith|EndsWith|StrContains)\("),
}


def path_of(label):
    """The path of a file's label."""
    package, name = label[len("//"):].split(":")
    return "%s/%s" % (package, name) if package else name


def _owners(rules):
    """{path of a header: the targets that offer it}."""
    owners = collections.defaultdict(set)
    for rule in rules.values():
        if rule.kind not in KINDS:
            continue
        for attribute in ("hdrs", "textual_hdrs"):
            for label in rule.lists.get(attribute, ()):
                for file in rules[label].outputs if label in rules else (label,):
                    if file.startswith("//"):
                        owners[path_of(file)].add(rule.name)
    return owners


def _direct(rule, rules):
    """The targets that a rule names, through aliases and libraries without files."""
    names = set()
    todo = list(rule.lists.get("deps", ())) + list(rule.lists.get("interface_deps", ()))
    while todo:
        name = todo.pop()
        names.add(name)
        lists = rules[name].lists if name in rules else {}
        todo += lists.get("actual", ())
        if not any(lists.get(attribute) for attribute in ("srcs", "hdrs", "textual_hdrs")):
            todo += lists.get("deps", ())
    return names


def _not_included(path, text, root):
    """The headers of CALLED that a file calls for and does not include."""
    included = set(INCLUDE.findall(text))
    own_header = os.path.join(root, os.path.splitext(path)[0] + ".h")
    if not path.endswith(".h") and os.path.exists(own_header):
        with open(own_header, encoding="utf-8") as own:
            included |= set(INCLUDE.findall(own.read()))
    return [header for header, called in CALLED.items()
            if header not in included and called.search(text)]


def _edge(rule, path, header, owners):
    package = "//%s:%s" % os.path.split(header)
    return rooms.Edge(rule.name, sorted(owners)[0] if owners else package,
                      rule.is_test, False)


def violations(root, rules):
    """(includes read, one line for each that is not allowed)."""
    owners = _owners(rules)
    read, lines = 0, set()
    for rule in rules.values():
        if rule.kind not in KINDS:
            continue
        own = {
            label for attribute in ("srcs", "hdrs", "textual_hdrs")
            for label in rule.lists.get(attribute, ()) if label.startswith("//")
        }
        own_paths = {path_of(label) for label in own}
        direct = _direct(rule, rules)
        for path in sorted(own_paths):
            file = os.path.join(root, path)
            if not path.endswith(ENDINGS) or not os.path.exists(file):
                continue  # made by another rule
            with open(file, encoding="utf-8") as opened:
                text = opened.read()
            included = INCLUDE.findall(text)
            for header in _not_included(path, text, root):
                lines.add("%s calls what %s declares and does not include it" % (path, header))
            own_header = os.path.splitext(path)[0] + ".h"
            if own_header in included[1:] and path.endswith((".c", ".cc")):
                lines.add("%s does not include %s first" % (path, own_header))
            for header in included:
                if header not in owners or header in own_paths:
                    continue
                read += 1
                reason = rooms.violation(_edge(rule, path, header, owners[header]))
                if reason:
                    lines.add("%s includes %s: %s" % (path, header, reason))
                if not owners[header] & direct:
                    lines.add("%s: %s includes %s, and deps does not name its owner %s" % (
                        rule.name, path, header, " or ".join(sorted(owners[header]))))
    return read, sorted(lines)
