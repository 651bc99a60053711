# SPDX-License-Identifier: Apache-2.0
"""The sum that CI prints tells failures of every kind."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

COUNT = os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"],
                     ".ci", "count.py")


def result(label, status, xml=None, attempt=1):
    outputs = [{"name": "test.xml", "uri": "file://" + xml}] if xml else []
    return {
        "id": {"testResult": {"label": label, "run": 1, "shard": 1,
                              "attempt": attempt}},
        "testResult": {"status": status, "testActionOutput": outputs},
    }


def completed(label, success):
    event = {"id": {"targetCompleted": {"label": label}}, "completed": {}}
    if success:
        event["completed"]["success"] = True
    return event


class CountTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def step(self, events, status=0):
        self.write("all.json", "\n".join(json.dumps(e) for e in events))
        self.write("all.status", "%d\n" % status)

    def count(self):
        """The exit status and the last line."""
        run = subprocess.run([sys.executable, COUNT, self.folder],
                             stdout=subprocess.PIPE, universal_newlines=True,
                             check=False)
        return run.returncode, run.stdout.splitlines()[-1]

    def test_counts_cases_of_a_target(self):
        xml = self.write("a.xml", "<testsuites><testsuite>"
                         "<testcase name='x' status='run'/>"
                         "<testcase name='y' status='run'/>"
                         "<testcase name='z' status='notrun'/>"
                         "</testsuite></testsuites>")
        self.step([completed("//a:t", True), result("//a:t", "PASSED", xml)])
        self.assertEqual(self.count(), (0, "2 passed, 0 failed"))

    def test_counts_failed_cases_beside_passed_ones(self):
        xml = self.write("a.xml", "<testsuites><testsuite><testcase name='x'/>"
                         "<testcase name='y'><failure/></testcase>"
                         "</testsuite></testsuites>")
        self.step([completed("//a:t", True), result("//a:t", "FAILED", xml)], 3)
        self.assertEqual(self.count(), (1, "1 passed, 1 failed"))

    def test_counts_a_crash_that_wrote_no_cases(self):
        self.step([completed("//a:t", True), result("//a:t", "FAILED"),
                   result("//b:t", "PASSED")], 3)
        self.assertEqual(self.count(), (1, "1 passed, 1 failed"))

    def test_counts_a_timeout_after_passed_cases(self):
        xml = self.write("a.xml", "<testsuite><testcase name='x'/></testsuite>")
        self.step([completed("//a:t", True), result("//a:t", "TIMEOUT", xml)], 3)
        self.assertEqual(self.count(), (1, "1 passed, 1 failed"))

    def test_counts_a_target_that_cannot_be_built(self):
        self.step([completed("//a:lib", False), result("//b:t", "PASSED")], 1)
        self.assertEqual(self.count(), (1, "1 passed, 1 failed"))

    def test_counts_the_last_attempt_only(self):
        self.step([result("//a:t", "FAILED", attempt=1),
                   result("//a:t", "PASSED", attempt=2)])
        self.assertEqual(self.count(), (0, "1 passed, 0 failed"))

    def test_counts_a_step_that_ended_badly_without_saying_why(self):
        self.step([result("//a:t", "PASSED")], 37)
        self.assertEqual(self.count(), (1, "1 passed, 1 failed"))

    def test_counts_a_step_without_any_events(self):
        self.write("all.status", "1\n")
        self.assertEqual(self.count(), (1, "0 passed, 1 failed"))

    def test_fails_when_nothing_ran(self):
        self.step([])
        self.assertEqual(self.count(), (1, "0 passed, 0 failed"))

    def test_adds_the_last_sum_of_a_log(self):
        self.step([result("//a:t", "PASSED")])
        self.write("interop.log", "1 passed, 0 failed\n12 passed, 2 failed\n")
        self.write("interop.status", "1\n")
        self.assertEqual(self.count(), (1, "13 passed, 2 failed"))

    def test_counts_a_log_without_a_sum(self):
        self.write("interop.log", "hello\n")
        self.write("interop.status", "0\n")
        self.assertEqual(self.count(), (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
