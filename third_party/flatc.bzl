# SPDX-License-Identifier: Apache-2.0
"""C++ headers from FlatBuffers schemas."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def flatbuffers_cc_library(name, srcs, includes = [], objects = False, visibility = None):
    """A library of the headers that flatc makes.

    For `schema/foo.fbs` the header is included as "schema/foo_generated.h".

    Args:
      name: the library.
      srcs: the schemas, in this package.
      includes: schemas that srcs include, by paths from the root.
      objects: whether there are also structures that hold a table unpacked, to
        change it and pack it again; fields that are empty are then packed, too.
      visibility: of the library.
    """
    root = native.repository_name().replace("@", "external/") if native.repository_name() != "@" else "."
    outs = [src[:-len(".fbs")] + "_generated.h" for src in srcs]
    native.genrule(
        name = name + "_flatc",
        srcs = srcs + includes,
        outs = outs,
        cmd = "$(execpath @flatc//:flatc) --cpp --cpp-std c++17 --keep-prefix" +
              (" --gen-object-api --force-empty" if objects else "") +
              " -I %s -o $(RULEDIR) " % root +
              " ".join(["$(execpath %s)" % src for src in srcs]),
        message = "Generating headers of",
        tools = ["@flatc//:flatc"],
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        hdrs = outs,
        visibility = visibility,
        deps = ["@flatbuffers//:flatbuffers"],
    )
