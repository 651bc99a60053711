# SPDX-License-Identifier: Apache-2.0
"""`petrel project` on the board that every machine is, and what it refuses."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import npy_file

PETREL = pathlib.Path("extension/cli/petrel").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
VARYING = pathlib.Path("test/models/varying").absolute()


# Of a board that nobody has, and writes what it is asked for to a file of the project.
SERVER = """
import base64, json, sys
said = [None, b"hello from", b" the board", b""]
for line in sys.stdin:
    asked = json.loads(line)
    params = asked["params"]
    answer = {"id": asked["id"], "result": {}}
    words = [asked["method"]] + [params[w] for w in ("driver", "device") if w in params]
    with open("asked", "a") as log:
        log.write(" ".join(words) + "\\n")
    if asked["method"] == "server_info_query":
        answer["result"] = {"methods": ["build", sys.argv[1]]}
    if asked["method"] == "read_transport":
        bytes = said.pop(0)
        if bytes is None:
            del answer["result"]
            answer["error"] = {"code": 4, "message": "nothing came"}
        else:
            answer["result"] = {"data": base64.b64encode(bytes).decode()}
    print(json.dumps(answer), flush=True)
"""


class ProjectVerbTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def petrel(self, *words, code=0, env=None, text=None):
        run = subprocess.run([str(PETREL), *map(str, words)], cwd=self.folder, text=True, input=text,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env={**os.environ, **(env or {})})
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout if code == 0 else run.stderr

    def generate(self, *words, model=DIGITS):
        self.petrel("gen-c", model, "-o", "c", "--name", "net", *words)

    def project(self, board="host", **change):
        """A project for a shipped board, or one that differs from it."""
        word = board
        if change:
            self.petrel("project", "create", "--board", board, "--model", "c", "-o", "plain")
            described = json.loads((self.folder / "plain/board.json").read_text())
            described.update(change)
            (self.folder / "mine.json").write_text(json.dumps(described))
            word = "mine.json"
        self.petrel("project", "create", "--board", word, "--model", "c", "-o", "p")

    def expected(self, *words, model=DIGITS):
        self.petrel("export", model, "-o", "net.pte", "--backend", "none")
        self.petrel("run", "net.pte", "--kernels", "reference", "--output-dir", "want", *words)
        return npy_file.read(self.folder / "want/output_0.npy")

    def test_from_a_model_to_an_output(self):
        for words in ((), ("--io", "caller"), ("--pool", "small=8K", "--pool", "large=256K")):
            with self.subTest(words):
                self.setUp()
                self.generate(*words)
                self.project()
                self.petrel("project", "build", "p")
                said = self.petrel("project", "run", "p", "--input", DIGIT, "--output-dir", "out")
                self.assertRegex(said, r"output_0: .*\ntime: \d+ ticks of 1000000000 Hz")
                got = npy_file.read(self.folder / "out/output_0.npy")
                want = self.expected("--input", DIGIT)
                self.assertEqual((got.shape, got.data), (want.shape, want.data))

    def test_outputs_do_not_take_the_place_of_inputs(self):
        self.generate()
        self.project()
        self.petrel("project", "build", "p")
        mine = self.folder / "output_0.npy"
        mine.write_bytes(DIGIT.read_bytes())
        said = self.petrel("project", "run", "p", "--input", mine, "--output-dir", ".", code=1)
        self.assertIn("output './output_0.npy' is a file that is read", said)
        self.assertEqual(mine.read_bytes(), DIGIT.read_bytes())

    def test_sizes_that_vary(self):
        model = VARYING / "cnn_image.pt2"
        inputs = sorted(VARYING.glob("cnn_image.call_1.input_*.npy"))
        given = [word for file in inputs for word in ("--input", file)]
        self.generate(model=model)
        self.project()
        self.petrel("project", "build", "p")
        self.petrel("project", "run", "p", *given, "--output-dir", "out")
        got = npy_file.read(self.folder / "out/output_0.npy")
        want = self.expected(*given, model=model)
        self.assertEqual((got.shape, got.data), (want.shape, want.data))

    def test_monitor_shows_what_the_board_sends(self):
        self.generate()
        self.project()
        self.petrel("project", "build", "p")
        said = self.petrel("project", "monitor", "p", "--seconds", "30")
        self.assertEqual(said, "net: self-test passed\n")

    def test_calibration_tells_both_clocks(self):
        self.generate()
        self.project()
        said = self.petrel("project", "calibrate", "p")
        pattern = (r"\Atimer: [1-9]\d* Hz by the clock of this machine, in \d+\.\d s, within "
                   r"(\d+\.\d+) %\nboard: 1000000000 Hz, [+-]\d+\.\d+ % of that\n(not to be believed: .*\n)?\Z")
        self.assertRegex(said, pattern)
        spread, doubt = re.match(pattern, said).groups()
        self.assertEqual(bool(doubt), float(spread) > 5, said)

    def test_calibration_that_spreads_tells_no_frequency(self):
        self.generate()
        self.project()
        program = self.folder / "p/firmware/calibrate.c"
        # Lines of a board that count as many ticks in a second as in a hundredth of one.
        program.write_text("""#include <stdio.h>
#include <unistd.h>
int main(void) {
  int i;
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("bits 32, hz 1000");
  for (i = 1; i <= 3; ++i) {
    puts("begin");
    usleep(10000u * (unsigned)(i * i));
    puts("end 100, status 0");
  }
  puts("done");
  return 0;
}
""")
        said = self.petrel("project", "calibrate", "p")
        self.assertRegex(said, r"not to be believed: the measurements differ by \S+ %, more than the "
                               r"5 % up to which they tell a frequency")

    def test_the_api_is_a_process(self):
        self.generate()
        self.project(server=[str(PETREL), "project", "serve"])
        self.petrel("project", "build", "p")
        self.petrel("project", "run", "p", "--input", DIGIT, "--output-dir", "out")
        self.assertEqual(self.petrel("project", "monitor", "p"), "net: self-test passed\n")
        self.assertIn("Hz by the clock of this machine", self.petrel("project", "calibrate", "p"))
        said = self.petrel("project", "serve", text='{"id": 1, "method": "server_info_query"}\n\n')
        self.assertEqual(json.loads(said)["result"]["protocol_version"], 1)

    def test_a_server_has_the_line_of_its_board(self):
        self.generate()
        server = self.folder / "server.py"
        server.write_text(SERVER)
        self.project(server=[sys.executable, str(server), "open_transport"])
        self.petrel("project", "build", "p")
        said = self.petrel("project", "monitor", "p", "--device", "S1", "--driver",
                           "host_driven")
        self.assertEqual(said, "hello from the board")
        self.assertEqual((self.folder / "p/asked").read_text().split("\n")[1:],  # after `build`
                         ["server_info_query", "open_transport host_driven S1",
                          *["read_transport"] * 4, "close_transport", ""])
        # What says that it has no line is asked for none.
        board = self.folder / "p/board.json"
        board.write_text(board.read_text().replace("open_transport", "none"))
        said = self.petrel("project", "monitor", "p", code=1)
        self.assertIn("standalone.elf' is not there", said)

    def test_no_verb_waits_for_ever_for_a_server(self):
        self.generate()
        self.project()
        folders = {}
        for name, server in (("silent", ["sleep", "1000"]), ("endless", ["yes", "{"])):
            board = shutil.copytree(self.folder / "p", self.folder / name) / "board.json"
            board.write_text(json.dumps({**json.loads(board.read_text()), "server": server,
                                         "server_seconds": 1}))
            folders[name] = rf"server '{server[0]}', method '%s': "
        for verb, method in (("build", "build"), ("flash", "flash"), ("run", "run"),
                             ("calibrate", "build"), ("list-devices", "list_devices")):
            for name, begin in folders.items():
                began = time.monotonic()
                said = self.petrel("project", verb, name, code=1)
                self.assertLess(time.monotonic() - began, 20)
                self.assertRegex(said, "\\Apetrel project: " + begin % method + (
                    "no answer, and it wrote nothing for 1 s, which is server_seconds of the board"
                    if name == "silent" else "it wrote '{', which is not JSON") + r"\n\Z")
        self.petrel("project", "info", "silent")  # asks none

    def test_flashing_what_needs_none(self):
        self.generate()
        self.project()
        self.assertIn("board 'host' has nothing to flash", self.petrel("project", "flash", "p"))

    def test_a_board_too_small_is_refused_before_anything_is_built(self):
        said = self.petrel("gen-c", DIGITS, "-o", "small", "--name", "net", "--board",
                           "qemu-stm32vldiscovery", code=1)
        self.assertRegex(said, r"pool 'sram'.*7168")
        self.assertFalse((self.folder / "small").exists())
        self.generate()
        said = self.petrel("project", "create", "--board", "qemu-stm32vldiscovery", "--model", "c",
                           "-o", "p", code=1)
        self.assertRegex(said, r"model 'net' does not fit board 'qemu-stm32vldiscovery': it needs "
                               r"\d+ bytes beside the 1024 of the stack, and memory 'sram' has 7168: "
                               r"\d+ are missing\n")
        self.assertFalse((self.folder / "p").exists())

    def test_a_tool_that_is_not_installed_is_named_with_what_installs_it(self):
        self.generate()
        self.project(toolchain={"prefix": "vax-none-", "install": "apt-get install gcc-vax"})
        said = self.petrel("project", "build", "p", code=1)
        self.assertEqual(said, "petrel project: 'vax-none-gcc', which board 'host' needs, is not "
                               "installed; this installs it: apt-get install gcc-vax\n")
        self.setUp()
        self.generate()
        self.project(emulator={"program": "qemu-vax", "machine": "vax", "install": "see vax.org"})
        self.petrel("project", "build", "p")
        said = self.petrel("project", "run", "p", code=1)
        self.assertEqual(said, "petrel project: 'qemu-vax', which board 'host' needs, is not "
                               "installed; this installs it: see vax.org\n")

    def test_a_board_that_hangs_or_ends_badly_is_told_in_time(self):
        self.generate()
        emulator = self.folder / "emulate"
        emulator.touch()
        emulator.chmod(0o755)
        self.project(emulator={"program": str(emulator), "machine": "m"})
        self.petrel("project", "build", "p")
        for script, expected in (("exec sleep 1000", "did not end within 1000 ms"),
                                 ("echo lost power; exit 3", "ended with 3: lost power"),
                                 ("exit 99", "ran into a fault on board 'host'"),
                                 ("exit 0", "wrote no report of the run")):
            with self.subTest(script):
                emulator.write_text(f"#!/bin/sh\n{script}\n")
                said = self.petrel("project", "run", "p", "--input", DIGIT, "--seconds", "1", code=1)
                self.assertIn(expected, said)

    def test_what_is_wrong_is_said(self):
        self.generate()
        create = ("project", "create", "--board", "host", "--model", "c", "-o", "p")
        self.petrel(*create)
        for words, expected in (
                (create, "'p' is there already"),
                ((*create[:3], "vax", *create[4:]), "there is no board 'vax'; there are cmake-"),
                ((*create[:5], "d", *create[6:]), "'d' has no manifest.json"),
                (("project", "build", "q"), "'q' has no project.json"),
                (("project", "run", "p"), "standalone.elf' is not there; `petrel project build "),
                (("project", "run", "p", "--method", "x"), "there is no method 'x'; there are 'forw"),
                (("project", "run", "p", "--input", "[1]"), "has shape [1], method 'forward' takes"),
        ):
            self.assertIn(expected, self.petrel(*words, code=1))

    def test_files_of_a_project_that_are_damaged(self):
        self.generate()
        self.project()
        for file, change, expected in (
                ("project.json", b"{", "project.json: line 1: is not JSON"),
                ("project.json", b'{"format": 2}', "project.json: format: is 2"),
                ("board.json", b'{"format": 1}', "board.json: name: is missing"),
                ("model/manifest.json", b'{"format": 1}', "manifest.json: name: is missing"),
                ("model/manifest.json", b"[]", "manifest.json: is [], must be an object")):
            with self.subTest(file=file, change=change):
                path = self.folder / "p" / file
                whole = path.read_bytes()
                path.write_bytes(change)
                self.assertIn(expected, self.petrel("project", "build", "p", code=1))
                path.write_bytes(whole)

    def test_info_tells_of_boards_and_projects(self):
        self.assertIn("qemu-microbit          BBC micro:bit", self.petrel("project", "info"))
        self.assertIn("rw sram at 0x20000000, 16384 bytes",
                      self.petrel("project", "info", "--board", "qemu-microbit"))
        self.generate()
        self.project()
        self.assertIn("method forward: 1 inputs, 1 outputs", self.petrel("project", "info", "p"))
        self.petrel("project", "list-devices", "p")


if __name__ == "__main__":
    unittest.main()
