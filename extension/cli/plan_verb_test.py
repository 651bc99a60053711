# SPDX-License-Identifier: Apache-2.0
"""`petrel plan` and `petrel inspect --plan-svg` as a user meets them."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

PETREL = pathlib.Path("extension/cli/petrel").absolute()
MODEL = pathlib.Path("examples/quickstart/digits.pt2").absolute()

SMALL = "id,lower,upper,size\na,0,3,2\nb,2,5,1\nc,2,5,1\n"


def check(rows, places, peak):
    """An independent look at a plan: rows are (id, lower, upper, size)."""
    spans = {p["id"]: (p["pool"], p["offset"]) for p in places}
    assert len(spans) == len(rows)
    tops = {}
    for i, (name, lower, upper, size) in enumerate(rows):
        pool, offset = spans[name]
        assert offset >= 0
        tops[pool] = max(tops.get(pool, 0), offset + size)
        for other, lower2, upper2, size2 in rows[:i]:
            pool2, offset2 = spans[other]
            if pool != pool2 or upper <= lower2 or upper2 <= lower:
                continue
            assert offset + size <= offset2 or offset2 + size2 <= offset, (name, other)
    assert sum(tops.values()) == peak


class PlanVerbTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.write("small.csv", SMALL)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def petrel(self, *arguments, **more):
        return subprocess.run([PETREL, *map(str, arguments)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def done(self, *arguments, **more):
        result = self.petrel(*arguments, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def fails(self, code, *arguments):
        result = self.petrel(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertTrue(result.stderr.startswith("petrel"), result.stderr)
        return result.stderr

    def test_json_has_the_promised_keys(self):
        plan = json.loads(self.done("plan", "small.csv", "--json"))
        self.assertEqual((plan["peak"], plan["lower_bound"], plan["optimal"]), (4, 4, True))
        self.assertGreaterEqual(plan["seconds"], 0)
        self.assertEqual(plan["pools"], [{"name": "arena", "peak": 4, "lower_bound": 4}])
        self.assertEqual(sorted(plan["buffers"][0]), ["id", "offset", "pool"])
        check([("a", 0, 3, 2), ("b", 2, 5, 1), ("c", 2, 5, 1)], plan["buffers"], 4)

    def test_random_problems_are_planned_validly(self):
        rng = random.Random(5)
        for _ in range(10):
            rows = []
            for i in range(rng.randint(1, 60)):
                lower = rng.randint(0, 40)
                rows.append((f"b{i}", lower, lower + rng.randint(1, 15), rng.randint(1, 500)))
            self.write("r.csv", "id,lower,upper,size\n" +
                       "".join(",".join(map(str, row)) + "\n" for row in rows))
            for more in ([], ["--pool", "fast=600", "--pool", "slow=unlimited"],
                         ["--budget-ms", "50"], ["--planner", "unshared"]):
                plan = json.loads(self.done("plan", "r.csv", "--json", *more))
                check(rows, plan["buffers"], plan["peak"])
                self.assertLessEqual(plan["lower_bound"], plan["peak"])
                for pool in plan["pools"]:
                    self.assertTrue(pool["name"] != "fast" or pool["peak"] <= 600)

    def test_text_says_how_good_the_plan_is(self):
        text = self.done("plan", "small.csv")
        for words in ("peak         4 bytes", "lower bound  4 bytes", "proven optimal",
                      "at time 2 are alive: a (line 2) 2"):
            self.assertIn(words, text)

    def test_a_capacity_that_cannot_be_met_is_1_and_says_what_is_proven(self):
        self.done("plan", "small.csv", "--capacity", "4")
        self.assertIn("which is proven", self.fails(1, "plan", "small.csv", "--capacity", "3"))
        result = self.petrel("plan", "small.csv", "--capacity", "3", "--json")
        self.assertTrue(json.loads(result.stdout)["proven"])
        self.assertIn("a (line 2)", result.stderr)
        # 14 bytes alive at once at most, but the fixed ones leave no room.
        self.write("f.csv", "id,lower,upper,size,offset\na,0,9,4,4\nb,0,5,6,\n")
        self.done("plan", "f.csv", "--capacity", "14")
        self.assertIn("which is proven", self.fails(1, "plan", "f.csv", "--capacity", "13"))
        result = self.petrel("plan", "small.csv", "--pool", "x=1", "--pool", "y=1", "--json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("proven", json.loads(result.stdout))

    def test_json_problems_and_pools_of_a_file(self):
        problem = {"pools": [{"name": "fast", "capacity": 8, "cost_per_access": 1},
                             {"name": "slow", "cost_per_access": 9}],
                   "buffers": [{"id": "x", "lower": 0, "upper": 2, "size": 8, "accesses": 1},
                               {"id": "y", "lower": 0, "upper": 2, "size": 8, "accesses": 5}]}
        self.write("p.json", json.dumps(problem))
        plan = json.loads(self.done("plan", "p.json", "--json"))
        self.assertEqual({b["id"]: b["pool"] for b in plan["buffers"]},
                         {"x": "slow", "y": "fast"})
        plan = json.loads(self.done("plan", "p.json", "--json", "--pool", "fast=1K"))
        self.assertEqual({b["pool"] for b in plan["buffers"]}, {"fast"})
        self.assertEqual(json.loads(self.done("plan", "-", "--json",
                                              input=json.dumps(problem)))["peak"], 16)
        self.fails(2, "plan", "p.json", "--capacity", "100")

    def test_pictures_and_csv(self):
        self.done("plan", "small.csv", "--svg", "p.svg", "--html", "p.html", "--csv", "p.csv")
        xml.dom.minidom.parse(str(self.folder / "p.svg"))
        html = (self.folder / "p.html").read_text()
        self.assertIn("small.csv", html)
        self.assertNotIn("http", html)
        rows = (self.folder / "p.csv").read_text().splitlines()
        self.assertEqual(rows[0], "id,lower,upper,size,offset")
        # Fixing every offset gives the same plan.
        self.assertEqual(json.loads(self.done("plan", "p.csv", "--json"))["peak"], 4)

    def test_bad_input_names_buffer_and_line_and_writes_nothing(self):
        head = "id,lower,upper,size,alignment,offset\n"
        for text, words in (
                ("", "line 1: the file is empty"),
                ("id,lower,upper\n", "line 1"),
                (head + "a,0,1,4,1\n", "line 2: has 5 columns"),
                (head + "a,0,1,x,1,\n", 'line 2: size is "x"'),
                (head + "a,0,1,-4,1,\n", "buffer a (line 2): size is -4"),
                (head + "a,1,1,4,1,\n", "buffer a (line 2): lifetime [1, 1)"),
                (head + "a,0,1,4,0,\n", "buffer a (line 2): alignment is 0"),
                (head + "a,0,1,4,1,\na,0,1,4,1,\n", "buffer a (line 3)"),
                (head + "a,0,1,9223372036854775808,1,\n", "line 2: size"),
                (head + "a,0,1,1152921504606846000,1,\nb,0,1,1152921504606846000,1,\n",
                 "buffer b (line 3)"),
                (head + "a,0,5,4,1,0\nb,4,9,4,1,3\n",
                 "buffers a (line 2) and b (line 3) are fixed at offsets 0 and 3"),
                (head + "a,0,1,4,8,4\n", "buffer a (line 2): fixed offset 4"),
                ('{"buffers": [{"id": "a", "lower": 0, "upper": 1}]}', "a (buffers[0])"),
                ('{"buffers": [', "line 1: is not JSON"),
                ("@\0\0\0ET12", "is not text: the buffers of a problem are needed"),
        ):
            self.write("bad", text)
            message = self.fails(1, "plan", "bad", "--svg", "out.svg", "--csv", "out.csv")
            self.assertIn(words, message)
            self.assertTrue(message.startswith("petrel plan: bad: "), message)
        self.assertIn("gone.csv", self.fails(1, "plan", "gone.csv"))
        self.assertIn(".: is a folder", self.fails(1, "plan", "."))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["bad", "small.csv"])
        self.fails(1, "plan", "small.csv", "--svg", "no/such/folder/x.svg")

    def test_wrong_usage_is_2(self):
        for arguments in ([], ["small.csv", "--capacity", "-1"], ["small.csv", "--capacity", "1e6"],
                          ["small.csv", "--capacity", "99999999999999999999"],
                          ["small.csv", "--budget-ms", "0"], ["small.csv", "--pool", "x"],
                          ["small.csv", "--pool", "=5"], ["small.csv", "--pool", "x=-5"],
                          ["small.csv", "--pool", "x=1", "--pool", "x=2"],
                          ["small.csv", "--pool", "x=1", "--capacity", "5"],
                          ["small.csv", "--pool", "x=9", "--pool", "y=9", "--csv", "p.csv"],
                          ["small.csv", "--planner", "magic"]):
            self.fails(2, "plan", *arguments)

    def test_pools_in_long_form(self):
        # a and b live together; c follows them.
        self.write("p.csv", "id,lower,upper,size\na,0,2,100\nb,0,2,100\nc,2,3,100\n")
        plan = json.loads(self.done("plan", "p.csv", "--json", "--pool",
                                    "name=fast,size=1K,prefer=128,align=64", "--pool",
                                    "name=slow,align=32"))
        pools = {p["name"]: p["peak"] for p in plan["pools"]}
        self.assertEqual(pools, {"fast": 100, "slow": 100})
        plan = json.loads(self.done("plan", "p.csv", "--json", "--pool", "name=one,align=64"))
        self.assertEqual(sorted({b["offset"] for b in plan["buffers"]}), [0, 128])
        for pool, words in (("name=x,align=3", "align is '3', must be a power of two"),
                            ("name=x,depth=3", "depth is '3', is no key"),
                            ("name=x,section=a\"b", "section is 'a\"b', must be")):
            self.assertIn(words, self.fails(2, "plan", "p.csv", "--pool", pool))
        self.assertIn("pools overlap", self.fails(2, "plan", "p.csv", "--pool",
                                                  "name=x,size=1K,address=0", "--pool",
                                                  "name=y,size=1K,address=0x3ff"))

    def test_another_program_can_be_the_planner(self):
        self.write("mine.py", """
import json, sys
problem = json.load(sys.stdin)
at, out = 0, []
for b in problem["buffers"]:
    assert b["pools"] == ["arena"] and b["alignment"] == 1 and b["size"] > 0
    assert all(isinstance(c, str) for c in b["conflicts"])
    out.append({"id": b["id"], "pool": "arena", "offset": at})
    at += b["size"]
json.dump({"buffers": out}, sys.stdout)
""")
        mine = f"{sys.executable} mine.py"
        plan = json.loads(self.done("plan", "small.csv", "--json", "--planner-command", mine))
        self.assertEqual((plan["peak"], plan["lower_bound"]), (4, 4))
        # Petrel itself is one.
        self.done("plan", "small.csv", "--planner-command", f"{PETREL} plan - --json")
        for command, words in (("exit 4", "exit code 4"), ("echo nonsense", "is not JSON"),
                               ("kill -11 $$", "signal 11"),
                               ("sleep 20", "did not answer within 200 ms"),
                               ("echo '{\"buffers\": []}'", "buffer a has no place")):
            self.assertIn(words, self.fails(1, "plan", "small.csv", "--planner-command", command,
                                            "--planner-timeout-ms", "200"))

    def test_export_takes_planners_and_orders_too(self):
        sizes = {}
        for planner in ("search", "orderings", "unshared"):
            report = json.loads(self.done("export", MODEL, "-o", "m.pte", "--backend", "none",
                                          "--reorder", "--planner", planner, "--json"))
            method = report["methods"][0]
            sizes[planner] = method["arena_bytes"][0]
            self.assertLessEqual(method["order"]["lower_bound"], method["order"]["peak"])
            self.assertLessEqual(method["order"]["peak"], method["order"]["given_peak"])
        self.assertLessEqual(sizes["search"], sizes["orderings"])
        self.assertLess(sizes["orderings"], sizes["unshared"])
        self.assertIn("order          needs", self.done(
            "export", MODEL, "-o", "m.pte", "--reorder", "--report",
            "--planner-command", f"{PETREL} plan - --json"))
        self.fails(1, "export", MODEL, "-o", "n.pte", "--planner-command", "exit 3")
        self.fails(2, "export", MODEL, "-o", "n.pte", "--planner", "magic")
        self.assertFalse((self.folder / "n.pte").exists())

    def test_export_refuses_arenas_beyond_a_limit(self):
        export = ("export", MODEL, "--backend", "none", "--json", "-o")
        needed, = json.loads(self.done(*export, "m.pte"))["methods"][0]["arena_bytes"]
        self.done(*export, "fits.pte", "--max-arena-bytes", needed)
        self.assertEqual((self.folder / "m.pte").read_bytes(),
                         (self.folder / "fits.pte").read_bytes())
        message = self.fails(1, *export, "n.pte", "--max-arena-bytes", needed - 1)
        self.assertIn(f"method 'forward': its arenas have {needed} bytes", message)
        self.assertIn(f"max_arena_bytes, which is {needed - 1}", message)
        self.assertFalse((self.folder / "n.pte").exists())

    def test_the_plan_of_a_program_as_a_picture(self):
        for backend in ("none", "xnnpack"):
            self.done("export", MODEL, "-o", "m.pte", "--backend", backend)
            self.done("inspect", "m.pte", "--plan-svg", "m.svg", "--plan-html", "m.html")
            svg = xml.dom.minidom.parse(str(self.folder / "m.svg"))
            titles = [t.firstChild.data for t in svg.getElementsByTagName("title")]
            self.assertTrue(any("bytes at" in t for t in titles), titles)
            self.assertIn("m.pte, method forward", (self.folder / "m.html").read_text())
        self.assertIn("backward", self.fails(1, "inspect", "m.pte", "--plan-svg", "x.svg",
                                             "--method", "backward"))
        self.assertIn("only a .pte", self.fails(1, "inspect", MODEL, "--plan-svg", "x.svg"))
        (self.folder / "cut.pte").write_bytes((self.folder / "m.pte").read_bytes()[:500])
        self.fails(1, "inspect", "cut.pte", "--plan-svg", "x.svg")
        self.assertFalse((self.folder / "x.svg").exists())


if __name__ == "__main__":
    unittest.main()
