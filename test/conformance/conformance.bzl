# SPDX-License-Identifier: Apache-2.0
"""The conformance suite for one backend."""

load("@rules_cc//cc:defs.bzl", "cc_test")

def petrel_conformance_test(name, fixture, **kwargs):
    """Runs the suite.

    Args:
      name: the test.
      fixture: a library that defines petrel::conformance::backend_under_test(),
        see fixture.h; testonly and alwayslink.
      **kwargs: for the test, such as size.
    """
    kwargs.setdefault("size", "medium")
    cc_test(
        name = name,
        deps = [
            fixture,
            str(Label("//test/conformance:suite")),
        ],
        **kwargs
    )
