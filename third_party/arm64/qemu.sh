#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Lets the kernel run arm64 programs through qemu-user, from shell scripts and
# tests too. Needs root once; does nothing when an interpreter is registered.
set -euo pipefail
registry=/proc/sys/fs/binfmt_misc
[ -e $registry/register ] || mount -t binfmt_misc none $registry
for name in petrel-aarch64 qemu-aarch64; do
  [ ! -e $registry/$name ] || exit 0
done
# An ELF file, 64 bits, little endian, executable or shared, machine 183.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
echo ":petrel-aarch64:M::$magic:$mask:/usr/bin/qemu-aarch64:F" >$registry/register
