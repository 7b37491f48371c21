#!/usr/bin/env bash
# Pin with hashes and without download addresses: tools/lock.sh BIN
set -euo pipefail
bin=$1
compile() { "$bin/uv" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate "$@"; }
compile pyproject.toml requirements/build.in --extra cli --extra infra --extra rehearsal -o requirements/run.txt
compile pyproject.toml requirements/build.in requirements/try.in --extra cli --extra infra --extra rehearsal -o requirements/try.txt
compile pyproject.toml requirements/build.in --extra cli --extra infra --extra rehearsal --extra dev -o requirements/dev.txt
echo "uv" | "$bin/uv" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate - -o requirements/uv.txt
