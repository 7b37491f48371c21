#!/usr/bin/env bash
# Python packages and the engine's build at the same time: tools/prepare.sh MAKE
# The engine's builder uses the standard library only, so it does not wait for the packages.
set -euo pipefail
make=$1
"$make" --no-print-directory setup
"$make" --no-print-directory engine
