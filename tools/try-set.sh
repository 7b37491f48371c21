#!/usr/bin/env bash
# Print what `make try` needs: setup-try where nodes can be real processes, setup-run elsewhere, and say why.
set -euo pipefail
why=""
if [ "$(uname -s)" != Linux ]; then why="they need Linux"
elif [ "$(id -u)" != 0 ]; then why="they need root: namespaces, mounts, block devices"
elif ! unshare --net --mount --pid --fork true 2>/dev/null; then why="this machine allows no namespaces"
elif [ "$(awk '/^MemTotal:/ {print int($2 / 1048576)}' /proc/meminfo)" -lt 4 ]; then why="they need 4 GiB of memory"
fi
if [ -z "$why" ]; then echo setup-try; exit 0; fi
echo "try: the rehearsed nodes will be modelled, not real processes: $why" >&2
echo setup-run
