#!/usr/bin/env bash
# Installs the peers of `npm run bench`: those that Debian packages, which needs the right to run apt-get, and gitleaks,
# which needs Go.
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
