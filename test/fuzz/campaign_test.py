# SPDX-License-Identifier: Apache-2.0
"""What a campaign reads out of the logs of libFuzzer, and what it tells of them."""
import os
import tempfile
import unittest

import campaign

MANY = """#2788\tINITED cov: 9291 corp: 1659 whole: 413 exec/s: 2107
#65609\tpulse cov: 9351 corp: 1746 whole: 3740 exec/s: 14871
stat::number_of_executed_units: 70000
stat::executed_whole: 4000
"""
LOG = """INFO: Seed: 1
#2\tINITED cov: 488 ft: 1039 corp: 84/61Kb exec/s: 0 rss: 112Mb
#46048\tREDUCE cov: 512 ft: 1139 corp: 90/61Kb lim: 1443 exec/s: 46048 rss: 112Mb L: 8/9
==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x604000081450 at pc 0x55dd
    #0 0x56 in __asan_memmove (/x/c_api_fuzzer+0x5)
    #1 0x57 in petrel::runtime::Method::set_tensor_input(petrel::runtime::Tensor const&) a.cc:1:2
SUMMARY: AddressSanitizer: heap-use-after-free (/x/c_api_fuzzer+0x5d7aee) in __asan_memmove
"""
FORK = "#18623: cov: 15426 ft: 12353 corp: 755 exec/s 447 oom/timeout/crash: 0/0/0 time: 40s\n"


def workspace():
    """The source tree that the runfiles point into."""
    here = os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
    return os.path.dirname(os.path.realpath(os.path.join(here, "WORKSPACE")))


class CampaignTest(unittest.TestCase):

    def test_reads_executions_and_edges(self):
        self.assertEqual(campaign.read_log(LOG), (46048, 512))
        self.assertEqual(campaign.read_log(LOG + "stat::number_of_executed_units: 47139\n"),
                         (47139, 512))
        self.assertEqual(campaign.read_log(FORK), (18623, 15426))
        self.assertEqual(campaign.read_log(MANY), (70000, 9351))
        self.assertEqual(campaign.read_log("clang: not found\n"), (0, 0))

    def test_tells_finds_apart_by_reason_and_place(self):
        elsewhere = LOG.replace("0x57", "0x99").replace("0x604000081450", "0x1")
        self.assertEqual(campaign.signature(LOG), campaign.signature(elsewhere))
        other = LOG.replace("Method::set_tensor_input", "Method::execute")
        self.assertNotEqual(campaign.signature(LOG), campaign.signature(other))
        promise = "broken promise: an output without memory\n"
        self.assertIn("an output without memory", campaign.signature(promise + LOG))

    def test_chooses_targets_by_name(self):
        all_targets = ["//test/fuzz:b_fuzzer", "//test/fuzz:a_fuzzer"]
        self.assertEqual(campaign.choose(all_targets, []), sorted(all_targets))
        self.assertEqual(campaign.choose(all_targets, ["b"]), ["//test/fuzz:b_fuzzer"])
        with self.assertRaises(SystemExit) as wrong:
            campaign.choose(all_targets, ["c"])
        self.assertIn("no target c; there are a, b", str(wrong.exception))

    def test_builds_what_calls_a_target_more_often(self):
        labels = ["//test/fuzz:a_fuzzer", "//test/fuzz:a_many", "//test/fuzz:b_fuzzer"]
        self.assertEqual(campaign.choose(labels, []), ["//test/fuzz:a_fuzzer", labels[2]])
        self.assertEqual(campaign.with_many(labels, labels[:1]), labels[:2])
        self.assertEqual(campaign.with_many(labels, labels[2:]), labels[2:])

    def test_sums_up_the_ledger(self):
        path = os.path.join(tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"]), "ledger.csv")
        campaign.add_to_ledger("2026-01-02,program,abc,1800,1000,50,0\n", path)
        campaign.add_to_ledger("2026-01-03,program,abd,1800,2000,40,1\n", path)
        campaign.add_to_ledger("2026-01-01,ptd,abc,36,7,3,0\n", path)
        rows = campaign.table(path).splitlines()[2:]
        self.assertEqual(rows, ["| `program` | 1.00 | 3,000 | 50 | 1 | 2026-01-03 |",
                                "| `ptd` | 0.01 | 7 | 3 | 0 | 2026-01-01 |"])

    def test_the_page_shows_the_ledger(self):
        with open(os.path.join(workspace(), "docs/fuzzing.md"), encoding="utf-8") as page:
            self.assertIn("\n" + campaign.table() + "\n", page.read())


if __name__ == "__main__":
    unittest.main()
