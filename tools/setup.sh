#!/usr/bin/env bash
# Make the virtual environment: tools/setup.sh VENV run|dev
# Stamps VENV/.run and VENV/.dev say what it holds; `dev` holds all of `run`.
set -euo pipefail
venv=$1 set=$2 requirements=requirements/$2.txt started=$SECONDS
if [ "$set" = run ] && [ -e "$venv/.dev" ] && [ "$venv/.dev" -nt "$requirements" ] && [ "$venv/.dev" -nt pyproject.toml ]; then
  touch "$venv/.run"
  exit 0
fi
python=$("$(dirname "$0")/find-python.sh")

echo "setup: $("$python" --version), packages from $requirements" >&2
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv" || {
  echo "setup: $python cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv" >&2
  exit 1
}
pip() { "$venv/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }
uv() { "$venv/bin/uv" --quiet pip "$@" --python "$venv/bin/python"; }
pip install --require-hashes -r requirements/uv.txt || {
  echo "setup: the package index could not be reached or refused; check the network, a proxy, or pip's settings" >&2
  exit 1
}
rm -f "$venv/.run" "$venv/.dev"
uv sync --require-hashes "$requirements" requirements/uv.txt
# The language host lists packages with pip, which a sync takes away.
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip --upgrade >/dev/null
uv install --no-deps --no-build-isolation --editable .
touch "$venv/.run"
[ "$set" = run ] || touch "$venv/.dev"
echo "setup: done in $((SECONDS - started)) s" >&2
