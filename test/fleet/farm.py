# SPDX-License-Identifier: Apache-2.0
"""A build farm on this machine: the server and its workers, ended with it.

    with Farm(folder) as farm:
        farm.start_worker("one")
        build("--remote_executor=" + farm.url)
"""

import pathlib
import signal
import socket
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Farm:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.address = f"127.0.0.1:{free_port()}"
        self.url = f"grpc://{self.address}"
        self.workers = {}
        self._server = None

    def __enter__(self):
        self.folder.mkdir()
        self._server = subprocess.Popen([HERE / "server", self.folder, self.address],
                                        stdout=subprocess.PIPE, text=True)
        for line in self._server.stdout:
            if line.startswith("ready"):
                return self
        raise SystemExit("the server of the farm ended before it was ready")

    def __exit__(self, *_):
        for name in list(self.workers):
            self.kill(name)
        self._server.send_signal(signal.SIGTERM)
        self._server.wait()

    def start_worker(self, name: str) -> None:
        with open(self.folder / f"{name}.log", "wb") as log:
            self.workers[name] = subprocess.Popen([HERE / "worker", self.address, name],
                                                  stdout=log, stderr=subprocess.STDOUT)

    def kill(self, name: str) -> None:
        """As a machine goes that loses its power: nobody is told."""
        process = self.workers.pop(name)
        process.kill()
        process.wait()

    def done_by(self, name: str) -> int:
        """How many exports a worker has finished."""
        return (self.folder / f"{name}.log").read_text().count(" done\n")

    def wait_until_done(self, name: str, count: int, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.done_by(name) >= count:
                return True
            time.sleep(0.05)
        return False
