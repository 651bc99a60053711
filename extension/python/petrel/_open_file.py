# SPDX-License-Identifier: Apache-2.0
"""Open files on their way to C++, which reads descriptors and bytes."""

import io
from typing import Any, Union


def is_open_file(source: Any) -> bool:
    return hasattr(source, "read") or hasattr(source, "fileno")


def descriptor_or_bytes(file: Any) -> Union[int, Any]:
    """The descriptor of a file of the system; else all bytes of the file, wherever it stands.

    A descriptor tells nothing of what lies between it and the file: gzip.open() has that of
    the compressed file, and what was written last may still be in the buffer.
    """
    innermost = file
    for name in ("file", "buffer", "raw"):  # of tempfile, of text, of buffers
        innermost = getattr(innermost, name, innermost)
    if isinstance(innermost, io.FileIO) or not hasattr(file, "read"):
        if innermost is not file and file.writable():
            file.flush()
        return file.fileno()
    if hasattr(file, "seekable") and file.seekable():
        place = file.tell()
        file.seek(0)
        data = file.read()
        file.seek(place)
    else:
        data = file.read()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"an open {type(file).__name__} gives {type(data).__name__}, must give "
                        "bytes: open it in mode 'rb'")
    return data
