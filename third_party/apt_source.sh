#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# apt_source.sh FOLDER PACKAGE VERSION
#
# Fetches the source archive of a package of Debian's trixie or sid into FOLDER,
# from the mirror that this system's apt uses for its own release. Touches
# neither the system's package lists nor its configuration, and so needs no
# root. The caller verifies the archive, so signatures are not asked for.
set -euo pipefail
folder=$1 package=$2 version=$3
mkdir -p "$folder"
cd "$folder"
here=$PWD

if [ ! -e ready ]; then
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  mirror=$(apt-get indextargets --no-release-info \
    --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk -v release="$release" '$1 == release && $2 == "main" {print $3; exit}')
  [ -n "$mirror" ] ||
    { echo "apt has no source for the release '$release'" >&2; exit 1; }
  mkdir -p state/lists/partial cache/archives/partial
  for release in trixie sid; do
    echo "deb-src [trusted=yes] $mirror $release main"
  done >sources.list
  cat >apt.conf <<END
Dir::State "$here/state";
Dir::State::Lists "$here/state/lists";
Dir::Cache "$here/cache";
Dir::Etc::SourceList "$here/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Acquire::Check-Valid-Until "false";
Acquire::Check-Date "false";
Acquire::Languages "none";
Acquire::Retries "2";
APT::Sandbox::User "";
END
  # It ends well even when it has fetched nothing.
  APT_CONFIG=$here/apt.conf apt-get -qq update >update.log 2>&1 || true
  [ -n "$(find state/lists -name '*_Sources*' -print -quit)" ] || {
    echo "no package list can be read: $(grep -m1 '^[EW]: ' update.log || true)" >&2
    exit 1
  }
  touch ready
fi
APT_CONFIG=$here/apt.conf apt-get -qq source --tar-only --only-source \
  "$package=$version" >&2
