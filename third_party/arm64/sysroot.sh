#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# sysroot.sh FOLDER [PACKAGE...]
#
# Unpacks Debian's arm64 packages of the libraries that this machine has, or of those that
# are named, in the same versions, below FOLDER; does nothing when they are there. Where the
# mirror has another version alone, as after a security update that this machine lacks, that is
# taken: a release of Debian changes no interface. Prints the folder that it made, whose name
# holds a digest of the versions. Touches neither the system's package lists nor its
# configuration, and so needs no root.
set -euo pipefail
folder=$1
packages=(
  googletest libabsl-dev libbenchmark-dev libc6 libcli11-dev libflatbuffers-dev
  libgcc-s1 libgmock-dev libgtest-dev libhwy-dev libminizip-dev rapidjson-dev
  libssl-dev libstdc++6 nlohmann-json3-dev zlib1g zlib1g-dev
)
[ $# -lt 2 ] || packages=("${@:2}")
# Shared libraries have the number of their interface in the name.
for package in libbenchmark-dev libhwy-dev libssl-dev; do
  [[ " ${packages[*]} " == *" $package "* ]] || continue
  packages+=($(dpkg-query -W -f='${Depends}' "$package" |
    grep -oE "^${package%-dev}[0-9][^ ,]*|, ${package%-dev}[0-9][^ ,]*" | tr -d ', '))
done

versions=$(dpkg-query -W -f='${Package} ${Architecture} ${Version}\n' "${packages[@]}" |
  awk '{print $1 ($2 == "all" ? ":all" : ":arm64") "=" $3}' | sort -u)
sysroot=$folder/sysroot-$(sha256sum <<<"$versions" | cut -c1-16)
if [ -e "$sysroot" ]; then
  echo "$sysroot"
  exit 0
fi
work=$folder/apt
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/new"
trap 'rm -rf "$work"' EXIT
: >"$work/status"
cat >"$work/apt.conf" <<END
Dir::State "$work";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "2";
END
export APT_CONFIG=$work/apt.conf
{
  apt-get -qq update
  cd "$work"
  there=()
  for package in ${versions//:all/}; do
    apt-cache madison "${package%%=*}" | awk -F ' *[|] *' -v version="${package#*=}" \
      '$2 == version {found = 1} END {exit !found}' || package=${package%%=*}
    there+=("$package")
  done
  apt-get -qq download "${there[@]}"
} >"$work/log" 2>&1 || {
  tail -5 "$work/log" >&2
  echo "sysroot.sh: apt has no arm64 packages in the versions of this machine" >&2
  exit 1
}
for package in "$work"/*.deb; do dpkg-deb -x "$package" "$work/new"; done
mv "$work/new" "$sysroot"
echo "$sysroot"
