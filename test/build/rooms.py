# SPDX-License-Identifier: Apache-2.0
"""Which room of the source tree may know which other one.

    schema             -> nothing
    runtime            -> schema
    exir               -> schema; runtime only where constants are folded, and
                          its arithmetic of shapes where memory is planned, of
                          half and bfloat16 where constants are made, and its C
                          where that is emitted
    backends/X/format  -> schema
    backends/X/aot     -> exir, backends/X/format, schema
    backends/X/runtime -> runtime, backends/X/format, schema
    extension          -> all of these; extension/python on neither the command
                          nor the C API
    dist, test, examples, docs -> all of these and extension
    third_party        -> nothing, and every room may use it

The tables of a file, as they lie there, are seen by who verifies or makes them
(TABLES).

Nothing knows test, examples or docs, with three exceptions. One is about files
and not about code: a test of any room may read the fixtures in test, and
extension and docs may read the models in examples. Tests of backends in examples
run the conformance suite. And tests of any room read what eager PyTorch computed
with the reader of test/eager, which depends on no room: one format for all, in a
place that both runtime and exir may ask. Targets at the root are names for
users; only test, examples and docs use them. Edges are those that Bazel sees:
whatever a target names in any attribute, after macros and for all branches of
select().
"""
import collections

from tree import package_of

ROOMS = ("schema", "runtime", "exir", "backends", "extension", "dist", "test",
         "examples", "docs", "third_party")

# The rooms that see everything and that nothing sees.
OUTER = ("dist", "test", "examples", "docs")

# A target, a label that it names, whether the target is a test or for tests
# only, and whether the label is a file or a group of files.
Edge = collections.namedtuple("Edge", "source destination is_test is_file")

# Packages of exir that run the runtime, all to fold constants.
FOLDING_PACKAGES = ("exir/fold",)

# What backends outside of backends/ are tested with.
CONFORMANCE_PACKAGE = "test/conformance"

# How tests of any room read what eager PyTorch computed.
EAGER_PACKAGE = "test/eager"

# What kernels and the compiler both compute: from shapes, the bits of
# narrow floats, and digests. And the C that travels with what the compiler writes.
SHARED_PACKAGES = {"exir/emit_c": ("runtime/micro", "runtime/kernels/narrow"),
                   "exir/memory": ("runtime/kernels/scratch",),
                   "exir/driver": ("runtime/kernels/narrow",),
                   "exir/import": ("runtime/kernels/narrow",),
                   "exir/ir": ("runtime/platform",),
                   "exir/pass/framework": ("runtime/kernels/narrow",)}


# The tables of files as they lie there. Who reads them verifies them, and offers
# others a view that needs no check; who writes them makes them. Nobody else sees
# them, tests aside.
TABLES = {"//schema:program_fbs": ("runtime/program", "exir/emit"),
          "//schema:additions_fbs": ("runtime/program", "exir/emit"),
          "//schema:flat_data_fbs": ("extension/flat_data", "exir/emit"),
          "//schema:xnnpack_fbs": ("backends/xnnpack/format",),
          "//schema:program_objects_fbs": ("extension/relink",)}

# What is handed on brings these along.
LICENCES = ("//:LICENSE", "//:NOTICE")


def violation(edge):
    """Why a target must not name a label; None when it may."""
    here = package_of(edge.source).split("/")
    there = package_of(edge.destination).split("/")
    if here == there or here[0] == "" or there[0] == "third_party":
        return None
    readers = TABLES.get(edge.destination)
    if readers and here[0] != "test" and not edge.is_test and \
            "/".join(here) not in readers:
        return "only %s see the tables of a file, others a view of them" % \
            " and ".join(readers)
    if there[0] == "":
        if here[0] in OUTER or edge.destination in LICENCES:
            return None
        return "only %s use the names at the root" % ", ".join(OUTER)
    if there[0] not in ROOMS:
        return "%s is not a room" % there[0]
    # The wheel brings the command, as a file.
    is_wheel_file = here == ["extension", "python", "wheel"] and there == ["extension", "cli"]
    if here[:2] == ["extension", "python"] and not edge.is_test and not is_wheel_file and \
            there[:2] in (["extension", "cli"], ["extension", "c_api"]):
        return "extension/python depends on neither extension/cli nor extension/c_api"
    if "/".join(here) == EAGER_PACKAGE:
        return "test/eager depends on no room"
    if here[0] == there[0] and here[0] != "backends":
        return None
    # What is handed on is tested whole.
    if there[0] == "dist" and here[0] == "test":
        return None
    if there[0] in OUTER:
        return _outer_violation(edge, here, there)
    if here[0] in OUTER or here[0] == "extension" and there[0] != "extension":
        return None
    if here[0] == "schema":
        return "schema depends on nothing"
    if here[0] == "runtime":
        return None if there[0] == "schema" else "runtime depends on schema only"
    if here[0] == "exir":
        if there[0] == "schema":
            return None
        if there[0] != "runtime":
            return "exir depends on schema and runtime only"
        if "/".join(here) in FOLDING_PACKAGES:
            return None
        if "/".join(there) in SHARED_PACKAGES.get("/".join(here), ()):
            return None
        return "exir depends on runtime only to fold constants, in " + \
            ", ".join(FOLDING_PACKAGES)
    if here[0] == "backends":
        return _backend_violation(here, there)
    return "%s depends on no room" % here[0]


def _outer_violation(edge, here, there):
    """The same for a label in test, examples or docs."""
    # A test compares what a page says.
    if there[0] in ("test", "docs") and edge.is_test and edge.is_file:
        return None
    if "/".join(there) == CONFORMANCE_PACKAGE and here[0] == "examples" and \
            edge.is_test:
        return None
    # The SDK brings the suite to authors of backends.
    if "/".join(there) == CONFORMANCE_PACKAGE and here[0] == "dist":
        return None
    if "/".join(there) == EAGER_PACKAGE and edge.is_test:
        return None
    if there[0] == "examples" and edge.is_file and \
            here[0] in ("extension", "test", "docs"):
        return None
    return "nothing depends on the code of %s" % there[0]


def _backend_violation(here, there):
    """The same for a target in backends/."""
    if len(here) < 3 or here[2] not in ("aot", "runtime", "format"):
        return "a backend consists of aot, runtime and format"
    name, part = here[1], here[2]
    if there[0] == "schema":
        return None
    if there[0] == "backends":
        if len(there) < 2 or there[1] != name:
            return "backends do not know each other"
        if len(there) > 2 and there[2] in (part, "format"):
            return None
        return "aot and runtime of a backend know format only"
    if part == "aot" and there[0] == "exir":
        return None
    if part == "runtime" and there[0] == "runtime":
        return None
    return "%s of a backend does not depend on %s" % (part, there[0])


def edges(rules):
    """All edges between the rules of a tree."""
    return [
        Edge(rule.name, label, rule.is_test,
             label not in rules or rules[label].kind == "filegroup")
        for rule in rules.values() for label in rule.inputs
        if label.startswith("//")
    ]


def violations(found):
    """One line for each of `edges` that the rooms do not allow."""
    lines = []
    for edge in sorted(set(found)):
        reason = violation(edge)
        if reason:
            lines.append("%s -> %s: %s" % (edge.source, edge.destination, reason))
    return lines
