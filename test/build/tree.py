# SPDX-License-Identifier: Apache-2.0
"""The source tree as Bazel sees it, and as a list of files.

    tree.workspace()                      the folder that holds WORKSPACE
    tree.sources(folder, (".cc", ".h"))   paths relative to the folder, sorted
    tree.rules(folder, output_base)       {label: Rule}, by one bazel query

A Rule keeps the labels of each attribute after macros and for all branches of
select().
"""
import collections
import os
import subprocess
import xml.etree.ElementTree as ElementTree

# `inputs` are all labels that any attribute names; `lists` maps an attribute to
# its own labels; `outputs` are the files that the rule makes.
Rule = collections.namedtuple("Rule", "name kind is_test inputs outputs lists")


def workspace():
    """The source tree that the runfiles of a test point into."""
    here = os.environ["TEST_SRCDIR"]
    name = os.environ["TEST_WORKSPACE"]
    return os.path.dirname(os.path.realpath(os.path.join(here, name, "WORKSPACE")))


def _folders(root):
    """Walks a tree without hidden folders, links and other repositories in it."""
    for folder, folders, files in os.walk(root):
        if folder != root and "WORKSPACE" in files:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name[0] != ".")
        yield os.path.relpath(folder, root), sorted(files)


def sources(root, endings):
    """The files of a tree whose names end so."""
    return [
        os.path.normpath(os.path.join(folder, name))
        for folder, files in _folders(root) for name in files
        if name.endswith(endings)
    ]


def packages(root):
    """The packages of a tree: what //... would be in a tree without links.

    //... itself enters the links that another Bazel has left there.
    """
    return sorted("" if folder == "." else folder
                  for folder, files in _folders(root) if "BUILD.bazel" in files)


def package_of(label):
    return label[len("//"):].split(":")[0]


def _labels(element):
    return [item.get("value") for item in element.iter("label")]


def _rule(element):
    lists = collections.defaultdict(list)
    for attribute in element:
        if attribute.tag in ("list", "label") and attribute.get("name"):
            lists[attribute.get("name")] += _labels(attribute)
    return Rule(
        name=element.get("name"), kind=element.get("class"),
        is_test=element.get("class").endswith("_test") or any(
            flag.get("name") == "testonly" and flag.get("value") == "true"
            for flag in element.iter("boolean")),
        inputs=[item.get("name") for item in element.iter("rule-input")],
        outputs=[item.get("name") for item in element.iter("rule-output")],
        lists=dict(lists))


def rules(root, output_base):
    """All rules of a tree by their labels."""
    patterns = ["//%s:all" % package for package in packages(root)]
    result = subprocess.run(
        [
            "bazel", "--batch", "--output_base=" + output_base,
            "--host_jvm_args=-Xmx1g", "query", "--output=xml",
            "--noimplicit_deps", "--notool_deps",
            "kind(rule, set(%s))" % " ".join(patterns)
        ],
        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        universal_newlines=True, check=False)
    if result.returncode:
        raise RuntimeError("bazel query failed: " + result.stderr)
    found = (_rule(element)
             for element in ElementTree.fromstring(result.stdout).iter("rule"))
    return {rule.name: rule for rule in found}
