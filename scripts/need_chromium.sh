#!/usr/bin/env bash
# Installs Chromium and the fonts of the pictures if they are missing and this is root on Debian.
set -euo pipefail
if command -v chromium >/dev/null || [ -n "${CHROMIUM:-}" ]; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo 'Chromium is missing: install the package chromium, or set CHROMIUM to its path' >&2
  exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-inter fonts-jetbrains-mono >/dev/null
