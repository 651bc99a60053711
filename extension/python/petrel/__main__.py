# SPDX-License-Identifier: Apache-2.0
"""python -m petrel VERB ...: the command `petrel` as this package brings it."""

from petrel._command import main

main()
