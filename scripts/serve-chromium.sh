#!/usr/bin/env bash
# Installs the browser the page's tests drive: Debian's Chromium (or Ubuntu's, where apt has it).
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then
    exit 0
  fi
done
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install chromium fonts-dejavu-core
