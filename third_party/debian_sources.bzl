# SPDX-License-Identifier: Apache-2.0
"""Source packages of newer Debian releases, as Bazel repositories.

Every archive is pinned by its sha256 and looked for in this order:

  1. Bazel's repository cache, which holds what an earlier build fetched;
  2. the folder that the environment variable PETREL_DISTDIR names;
  3. the Debian mirror that this system's own apt is configured with.

A package has a list of versions, best first, because a mirror drops a version
of unstable as soon as the next one is uploaded.

`debian_sources` fetches all archives into one repository, so that apt reads its
package lists once. `debian_source` unpacks one of them, adds a BUILD file and
applies patches.
"""

def _file_name(rctx, package, version):
    """The archive's name in Debian's pool; it lacks epoch and Debian revision."""
    upstream = version.rpartition("-")[0].rpartition(":")[2]
    return "%s_%s.orig.%s" % (package, upstream, rctx.attr.ending)

def _from_cache_or_folder(rctx, package, version, sha256):
    cache = rctx.os.environ.get("PETREL_REPOSITORY_CACHE") or "/nonexistent"
    cached = "%s/content_addressable/sha256/%s/file" % (cache, sha256)
    folder = rctx.os.environ.get("PETREL_DISTDIR") or "/nonexistent"
    archive = "%s/%s" % (folder, _file_name(rctx, package, version))

    # A download that fails prints a warning, so only what exists is tried.
    if not rctx.path(cached).exists and not rctx.path(archive).exists:
        return False

    # The sha256 is looked up in the repository cache before any address is.
    return rctx.download(
        url = "file://" + archive,
        output = package + "." + rctx.attr.ending,
        sha256 = sha256,
        allow_fail = True,
    ).success

def _from_apt(rctx, wanted):
    """Fetches with apt; returns its messages by package."""
    messages = {}
    script = rctx.path(Label("//third_party:apt_source.sh"))
    for package, versions in wanted.items():
        for version, sha256 in versions:
            result = rctx.execute(
                ["/bin/bash", script, "apt", package, version],
                timeout = 600,
            )
            if result.return_code == 0:
                found = rctx.download(
                    url = "file://%s" % rctx.path("apt/" + _file_name(rctx, package, version)),
                    output = package + "." + rctx.attr.ending,
                    sha256 = sha256,
                    allow_fail = True,
                )
                if found.success:
                    messages.pop(package, None)
                    rctx.file(package + ".version", version)
                    break
                messages[package] = "the archive of %s has another sha256" % version
            else:
                messages[package] = result.stderr.strip()
    rctx.delete("apt")
    return messages

def _debian_sources_impl(rctx):
    wanted = {}
    for package, pins in rctx.attr.packages.items():
        versions = [tuple(pin.split(" ")) for pin in pins]
        wanted[package] = versions
        for version, sha256 in versions:
            if _from_cache_or_folder(rctx, package, version, sha256):
                rctx.file(package + ".version", version)
                wanted.pop(package)
                break
    if wanted:
        rctx.report_progress("Fetching source packages with apt")
        for package, message in _from_apt(rctx, wanted).items():
            fail("\n".join([
                "%s is neither in the repository cache nor in PETREL_DISTDIR (%s)," % (
                    package,
                    rctx.os.environ.get("PETREL_DISTDIR") or "not set",
                ),
                "and apt cannot fetch it: " + message,
                "put one of these into a folder and set PETREL_DISTDIR to it:",
            ] + [
                "  %s  sha256 %s" % (_file_name(rctx, package, version), sha256)
                for version, sha256 in wanted[package]
            ]))
    rctx.file("BUILD.bazel", "exports_files(glob([\"*\"]))\n")

debian_sources = repository_rule(
    implementation = _debian_sources_impl,
    attrs = {
        "packages": attr.string_list_dict(
            mandatory = True,
            doc = "Package -> list of \"VERSION SHA256\", best first.",
        ),
        "ending": attr.string(default = "tar.xz", doc = "Of the archives."),
    },
    environ = ["PETREL_DISTDIR"],
)

def _debian_source_impl(rctx):
    # Not rctx.extract: it ends Debian 13's Bazel, which lacks a class for it.
    archive = rctx.path(rctx.attr.archive)
    strip = "--strip-components=%d" % (1 if rctx.attr.has_top_folder else 0)
    unpacked = rctx.execute(["tar", "--extract", "--file", archive, strip])
    if unpacked.return_code:
        fail("%s cannot be unpacked: %s" % (archive, unpacked.stderr))
    for patch in rctx.attr.patches:
        rctx.patch(patch, strip = 1)

    # Packages inside would hide their files from the one that is added.
    depth = [] if rctx.attr.is_one_package else ["-maxdepth", "1"]
    for name in ["BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel"]:
        rctx.execute(["find", "."] + depth + ["-name", name, "-type", "f", "-delete"])
    rctx.file("WORKSPACE", "workspace(name = %r)\n" % rctx.name)
    rctx.symlink(rctx.attr.build_file, "BUILD.bazel")

debian_source = repository_rule(
    implementation = _debian_source_impl,
    attrs = {
        "archive": attr.label(mandatory = True, doc = "Of a `debian_sources`."),
        "has_top_folder": attr.bool(default = True),
        "is_one_package": attr.bool(doc = "BUILD files below its folder are dropped."),
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "patches": attr.label_list(allow_files = [".patch"]),
    },
)
