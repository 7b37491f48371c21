#!/usr/bin/env bash
# Packages and engine at the same time: tools/prepare.sh MAKE TARGET
# The engine's builder needs the standard library only, so it does not wait for the packages.
set -euo pipefail
make=$1 target=$2
python=$("$(dirname "$0")/find-python.sh")
PYTHONPATH=. "$python" -m nightshift.emulator.engine &
engine=$!
trap 'kill $engine 2>/dev/null || true' EXIT
"$make" --no-print-directory "$target"
wait $engine
trap - EXIT
