#!/usr/bin/env bash
# Make the virtual environment: tools/setup.sh VENV REQUIREMENTS
set -euo pipefail
venv=$1 requirements=$2 started=$SECONDS

python=""
for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
  [ -n "$candidate" ] && command -v "$candidate" >/dev/null || continue
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
  echo "setup: no Python 3.11 or newer found. Install one, or name it: make setup PYTHON=/path/to/python3.12" >&2
  exit 1
fi

echo "setup: $("$python" --version), packages from $requirements" >&2
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv" || {
  echo "setup: $python cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv" >&2
  exit 1
}
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
"$venv/bin/uv" pip sync --quiet --python "$venv/bin/python" --require-hashes "$requirements" requirements/uv.txt
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip --upgrade >/dev/null
"$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation --editable .
echo "setup: done in $((SECONDS - started)) s" >&2
