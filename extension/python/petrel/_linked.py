# SPDX-License-Identifier: Apache-2.0
"""What is linked into the package: names of backends and kernels."""

from typing import List

from petrel import _petrel


def backend_names() -> List[str]:
    return _petrel.backend_names()


def operator_names() -> List[str]:
    return _petrel.operator_names()
