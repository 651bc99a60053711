# SPDX-License-Identifier: Apache-2.0
"""Writes wheel.ptd with the serializer of executorch 1.5.0.

Keys: "linear.weight" float32 [2, 3] = 0 .. 5, "alias" the same bytes,
"blob" 5 bytes without a layout, "nhwc" float32 [1, 2, 2, 3] channels last.

    python3 make_ptd.py wheel.ptd
"""

import sys

import numpy as np
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir._serialize.data_serializer import DataPayload
from executorch.exir.scalar_type import ScalarType
from executorch.exir.tensor_layout import TensorLayout
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

weight = np.arange(6, dtype=np.float32).tobytes()
nhwc = np.arange(12, dtype=np.float32).tobytes()
store = NamedDataStore()
layout = TensorLayout(ScalarType.FLOAT, [2, 3], [0, 1])
last = TensorLayout(ScalarType.FLOAT, [1, 2, 2, 3], [0, 2, 3, 1])
store.add_named_data("linear.weight", weight, 16, "f", layout)
store.add_named_data("alias", weight, 16, "f", layout)
store.add_named_data("blob", b"hello", 1, "f", None)
store.add_named_data("nhwc", nhwc, 64, "f", last)
output = store.get_named_data_store_output()
payload = DataPayload(buffers=output.buffers, named_data=output.external_data["f"])
with open(sys.argv[1], "wb") as f:
    f.write(bytes(FlatTensorSerializer().serialize(payload)))
