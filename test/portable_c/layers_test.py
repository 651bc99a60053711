# SPDX-License-Identifier: Apache-2.0
"""Every archive of test/models/layers as C."""

import pathlib
import unittest

import compared_folder


class LayersTest(compared_folder.ComparedFolder, unittest.TestCase):
    models = pathlib.Path("test/models/layers").absolute()


if __name__ == "__main__":
    unittest.main()
