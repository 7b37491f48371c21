#!/usr/bin/env bash
# Print a Python of 3.11 or newer: the one named by PYTHON, or the first that is found.
set -euo pipefail
for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
  [ -n "$candidate" ] && command -v "$candidate" >/dev/null || continue
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo "$candidate"; exit 0; fi
done
echo "setup: no Python 3.11 or newer found. Install one, or name it: make setup PYTHON=/path/to/python3.12" >&2
exit 1
