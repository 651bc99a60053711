# SPDX-License-Identifier: Apache-2.0
"""Programs and tests that import petrel."""

def petrel_py_binary(name, deps = [], **kwargs):
    """A py_binary that can import petrel.

    The folder of its script must not hold a folder `petrel`.

    Args:
      name: the program.
      deps: other libraries.
      **kwargs: for py_binary.
    """
    native.py_binary(
        name = name,
        deps = deps + [str(Label("//extension/python:petrel"))],
        # The runfiles of this workspace lie in a folder petrel, which must not
        # become a package of that name.
        legacy_create_init = 0,
        python_version = "PY3",
        **kwargs
    )

def petrel_py_test(name, deps = [], tags = [], **kwargs):
    """A py_test that can import petrel.

    Args:
      name: the test.
      deps: other libraries.
      tags: of the test.
      **kwargs: for py_test.
    """
    native.py_test(
        name = name,
        deps = deps + [str(Label("//extension/python:petrel"))],
        legacy_create_init = 0,
        python_version = "PY3",
        # Debian's Python can load modules for this machine without sanitizers.
        tags = tags + [
            "no-arm64",
            "no-sanitizer",
        ],
        **kwargs
    )
