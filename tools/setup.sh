#!/usr/bin/env bash
# Make the virtual environment: tools/setup.sh VENV run|try|dev
# Stamps VENV/.run, .try and .dev say what it holds; `try` holds all of `run`, `dev` all of `try`.
set -euo pipefail
venv=$1 set=$2 requirements=requirements/$2.txt started=$SECONDS
fresh() { [ -e "$venv/.$1" ] && [ "$venv/.$1" -nt "requirements/$1.txt" ] && [ "$venv/.$1" -nt "$requirements" ] && [ "$venv/.$1" -nt pyproject.toml ]; }
case $set in run) larger="try dev" ;; try) larger="dev" ;; *) larger="" ;; esac
for one in $larger; do
  if fresh "$one"; then touch "$venv/.$set"; exit 0; fi
done
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
rm -f "$venv/.run" "$venv/.try" "$venv/.dev"
uv sync --require-hashes "$requirements" requirements/uv.txt
# The language host lists packages with pip, which a sync takes away.
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip --upgrade >/dev/null
uv install --no-deps --no-build-isolation --editable .
touch "$venv/.run"
[ "$set" = run ] || touch "$venv/.try"
[ "$set" != dev ] || touch "$venv/.dev"
echo "setup: done in $((SECONDS - started)) s" >&2
