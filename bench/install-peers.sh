#!/usr/bin/env bash
# Installs the peers of `npm run bench`: those that Debian packages, which needs the right to run apt-get; gitleaks, which
# needs Go; Fluent Bit, built from its source, which needs git and a compiler, and takes some minutes; and Vector, by the
# installer of its authors.
set -euo pipefail

apt-get install -y --no-install-recommends ripgrep syslog-ng-core

# Debian lets only one system logger be installed. rsyslog is unpacked instead, with the libraries that the
# machine lacks, to where the bench looks for it.
folder="${XDG_CACHE_HOME:-$HOME/.cache}/millrace-bench"
mkdir -p "$folder"
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
(cd "$packages" && apt-get download rsyslog libestr0 libfastjson4 liblognorm5)
rm -rf "$folder/root"
for package in "$packages"/*.deb; do
  dpkg-deb -x "$package" "$folder/root"
done
echo "rsyslog is in $folder/root"

if command -v go > /dev/null; then
  GOBIN="$folder/bin" go install github.com/zricethezav/gitleaks/v8@v8.18.4
  echo "gitleaks is in $folder/bin"
else
  echo "gitleaks was not installed, because there is no go" >&2
fi

if [ -x "$folder/bin/fluent-bit" ] || [ -x /opt/fluent-bit/bin/fluent-bit ] || command -v fluent-bit > /dev/null; then
  echo "Fluent Bit is installed already"
else
  apt-get install -y --no-install-recommends git cmake make gcc g++ flex bison libyaml-dev libssl-dev libsqlite3-dev
  git clone --quiet --depth 1 --branch v5.1.1 https://github.com/fluent/fluent-bit.git "$packages/fluent-bit"
  # 5.1.1 compiles only with plugins that include this header.
  sed -i 's|^#include <fluent-bit/flb_http_client.h>|&\n#include <fluent-bit/flb_upstream_node.h>|' \
    "$packages/fluent-bit/src/flb_http_client.c"
  # Only what the bench uses: the whole takes four times as long.
  cmake -S "$packages/fluent-bit" -B "$packages/fluent-bit/build" -DCMAKE_BUILD_TYPE=Release -DFLB_MINIMAL=On \
    -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DFLB_PREFER_SYSTEM_LIB_SQLITE=On -DFLB_KAFKA=Off -DFLB_WASM=Off -DFLB_AWS=Off \
    -DFLB_SIGNV4=Off -DFLB_UNICODE_ENCODER=Off -DFLB_EXAMPLES=Off -DFLB_IN_TAIL=On -DFLB_FILTER_LUA=On \
    -DFLB_OUT_STDOUT=On > /dev/null
  make -C "$packages/fluent-bit/build" -j "$(nproc)" fluent-bit-bin
  install -D "$packages/fluent-bit/build/bin/fluent-bit" "$folder/bin/fluent-bit"
  echo "Fluent Bit is in $folder/bin"
fi

if [ -x "$folder/bin/vector" ] || command -v vector > /dev/null; then
  echo "Vector is installed already"
else
  curl --proto '=https' --tlsv1.2 -sSfL https://sh.vector.dev | bash -s -- -y --prefix "$folder"
  echo "Vector is in $folder/bin"
fi
