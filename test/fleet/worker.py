# SPDX-License-Identifier: Apache-2.0
"""A worker of a build farm: takes one action after another from BuildGrid and runs it.

It is for tests and small farms: inputs are fetched once and linked into a folder of the action,
which has nothing else; there is no sandbox. `worker`, beside this file, starts it.
"""

import argparse
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from hashlib import sha256

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as re
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as re_grpc
from buildgrid._protos.google.bytestream import bytestream_pb2, bytestream_pb2_grpc
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import worker_pb2

KEEPALIVE = 2.0  # seconds between two signs of life
CHUNK = 1 << 20


class Storage:
    """The content of files by their digests, some of it kept here."""

    def __init__(self, channel, kept: pathlib.Path):
        self._bytes = bytestream_pb2_grpc.ByteStreamStub(channel)
        self._kept = kept

    def fetch(self, digest) -> pathlib.Path:
        path = self._kept / digest.hash
        if path.exists():
            return path
        request = bytestream_pb2.ReadRequest(
            resource_name=f"blobs/{digest.hash}/{digest.size_bytes}")
        part = path.with_suffix(".part")
        found = sha256()
        with open(part, "wb") as out:
            for answer in self._bytes.Read(request):
                found.update(answer.data)
                out.write(answer.data)
        if found.hexdigest() != digest.hash:
            raise ValueError(f"the server sent other bytes than {digest.hash}")
        part.chmod(0o555)
        part.rename(path)
        return path

    def message(self, digest, kind):
        return kind.FromString(self.fetch(digest).read_bytes() if digest.size_bytes else b"")

    def store(self, data: bytes):
        digest = re.Digest(hash=sha256(data).hexdigest(), size_bytes=len(data))
        name = f"uploads/{uuid.uuid4()}/blobs/{digest.hash}/{digest.size_bytes}"

        def requests():
            for at in range(0, max(len(data), 1), CHUNK):
                yield bytestream_pb2.WriteRequest(
                    resource_name=name, write_offset=at, data=data[at:at + CHUNK],
                    finish_write=at + CHUNK >= len(data))

        self._bytes.Write(requests())
        return digest


def lay_out(storage: Storage, digest, folder: pathlib.Path) -> None:
    """The inputs of an action."""
    folder.mkdir()
    directory = storage.message(digest, re.Directory)
    for file in directory.files:
        os.link(storage.fetch(file.digest), folder / file.name)
    for link in directory.symlinks:
        (folder / link.name).symlink_to(link.target)
    for child in directory.directories:
        lay_out(storage, child.digest, folder / child.name)


def output_file(storage: Storage, path: pathlib.Path, name: str):
    executable = bool(path.stat().st_mode & stat.S_IXUSR)
    return re.OutputFile(path=name, digest=storage.store(path.read_bytes()),
                         is_executable=executable)


def stored_tree(storage: Storage, folder: pathlib.Path):
    """The digest of a folder that is an output, with all in it."""
    children = []

    def described(place: pathlib.Path):
        directory = re.Directory()
        for path in sorted(place.iterdir()):
            if path.is_dir():
                child = described(path)
                children.append(child)
                data = child.SerializeToString(deterministic=True)
                directory.directories.add(name=path.name, digest=re.Digest(
                    hash=sha256(data).hexdigest(), size_bytes=len(data)))
            else:
                file = output_file(storage, path, path.name)
                directory.files.add(name=path.name, digest=file.digest,
                                    is_executable=file.is_executable)
        return directory

    tree = re.Tree(root=described(folder), children=children)
    return storage.store(tree.SerializeToString(deterministic=True))


def run(storage: Storage, action, folder: pathlib.Path):
    """The result of an action that runs in `folder`, which is not there yet."""
    command = storage.message(action.command_digest, re.Command)
    lay_out(storage, action.input_root_digest, folder)
    wanted = [*command.output_files, *command.output_directories, *command.output_paths]
    for name in wanted:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command.arguments, cwd=folder / command.working_directory, check=False,
                          env={one.name: one.value for one in command.environment_variables},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # A program that a signal ended is said as a shell says it.
    result = re.ActionResult(exit_code=done.returncode if done.returncode >= 0
                             else 128 - done.returncode,
                             stdout_raw=done.stdout, stderr_raw=done.stderr)
    for name in dict.fromkeys(wanted):
        path = folder / name
        if path.is_dir():
            result.output_directories.add(path=name, tree_digest=stored_tree(storage, path))
        elif path.exists():
            result.output_files.append(output_file(storage, path, name))
    return result


def carry_out(storage: Storage, lease, scratch: pathlib.Path) -> None:
    """Runs what a lease asks for, and completes it."""
    action = re.Action()
    if not lease.payload.Unpack(action):
        digest = re.Digest()
        lease.payload.Unpack(digest)
        action = storage.message(digest, re.Action)
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch)) / "root"
    try:
        lease.result.Pack(run(storage, action, folder))
    except (OSError, ValueError, grpc.RpcError) as error:
        lease.status.code = grpc.StatusCode.INTERNAL.value[0]
        lease.status.message = str(error)
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)
    lease.state = bots_pb2.LeaseState.Value("COMPLETED")


def work(channel, name: str, scratch: pathlib.Path) -> None:
    bots = bots_pb2_grpc.BotsStub(channel)
    (scratch / "kept").mkdir()
    storage = Storage(channel, scratch / "kept")
    session = bots_pb2.BotSession(bot_id=name, status=bots_pb2.BotStatus.Value("OK"))
    device = session.worker.devices.add(handle=name)
    device.properties.add(key="OSFamily", value="linux")
    session = bots.CreateBotSession(
        bots_pb2.CreateBotSessionRequest(parent="", bot_session=session), timeout=30)
    running = {}
    done = 0
    while True:
        for lease in session.leases:
            # The server of today sends them active at once.
            if lease.id not in running and lease.state != bots_pb2.LeaseState.Value("CANCELLED"):
                lease.state = bots_pb2.LeaseState.Value("ACTIVE")
                copy = bots_pb2.Lease()
                copy.CopyFrom(lease)
                thread = threading.Thread(target=carry_out, args=(storage, copy, scratch))
                running[lease.id] = (thread, copy)
                thread.start()
        if running:
            thread, lease = next(iter(running.values()))
            thread.join(KEEPALIVE)
            if not thread.is_alive():
                del session.leases[:]
                session.leases.append(lease)
                running.clear()
                done += 1
                print(f"{name}: {done} done", flush=True)
        session = bots.UpdateBotSession(
            bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session), timeout=30)


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs exports for a build farm.")
    parser.add_argument("address", help="of the server, such as 127.0.0.1:50051")
    parser.add_argument("name", help="of this worker, no other has it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="worker") as scratch:
        while True:
            with grpc.insecure_channel(arguments.address) as channel:
                try:
                    shutil.rmtree(pathlib.Path(scratch, "kept"), ignore_errors=True)
                    work(channel, arguments.name, pathlib.Path(scratch))
                except grpc.RpcError as error:
                    print(f"worker: {arguments.address}: {error.code()}: {error.details()}",
                          file=sys.stderr, flush=True)
            time.sleep(1)


if __name__ == "__main__":
    sys.exit(main())
