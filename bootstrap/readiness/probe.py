"""Runs in the runtime's own Python and says in JSON what torch can do here. Imports nothing of ours.

`probe.py runtime`: versions and mapped libraries; `probe.py kernels`: a matmul, a convolution, a compiled
function and bf16 on each card; `probe.py collective`: an all_reduce over all of them, within a deadline.
Without a GPU it works on the CPU and says so (`"available": false`). Exit code 0 whenever it could answer.
Differences are relative to the largest right value, in millionths; null for one that isn't finite.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

HERE = str(Path(__file__).resolve().parent)
CUDA_LIBRARIES = re.compile(
    r"lib(?:cuda|cudart|cublas|cublasLt|cufft|cufile|curand|cusolver|cusolverMg|cusparse|cusparseLt|cupti"
    r"|cudnn\w*|nccl|nccl-net\S*|nvrtc\S*|nvJitLink|nvToolsExt|nvshmem\S*|nvidia-\S+)\.so[.\d]*"
)
NETWORK_LINE = re.compile(r"(?:NET/OFI Selected provider is .*|Using network .*)", re.IGNORECASE)
Run = Callable[[Any, str], tuple[Any, Any]]
"""Computes something on a device; gives that and the right values."""
CPU_RANKS = 2
SMALL, LARGE = 1024, 1 << 26
"""Elements of float32: one step of checking, and 256 MiB to time."""
EXIT_GRACE_S = 5.0


def error_text(error: BaseException) -> str:
    """Type and message, in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[-2000:]


def millionths(difference: float, scale: float) -> int | None:
    """`difference` relative to `scale`, rounded up; None where either isn't a number."""
    if not math.isfinite(difference) or not math.isfinite(scale):
        return None
    return math.ceil(difference / max(scale, 1e-30) * 1e6)


def cuda_libraries(maps: str) -> list[str]:
    """Paths of the mapped libraries of CUDA, cuDNN, NCCL and the driver, each once."""
    paths = {line.split(None, 5)[5].strip() for line in maps.splitlines() if line.count("/")}
    return sorted(path for path in paths if CUDA_LIBRARIES.fullmatch(path.rpartition("/")[2]))


def network_lines(log: str) -> list[str]:
    """What NCCL's log says of the network it took, each once, in order."""
    return list(dict.fromkeys(hit.group(0).strip()[:200] for hit in NETWORK_LINE.finditer(log)))


def bus_mb_per_s(size_bytes: int, ranks: int, seconds: float) -> int:
    """Bus bandwidth of an all_reduce as nccl-tests counts it: 2 (n - 1) / n of the size, in MB/s."""
    return round(size_bytes * 2 * (ranks - 1) / ranks / seconds / 1e6)


def runtime() -> dict[str, Any]:
    """Import torch, touch each card once, and look what got mapped."""
    told = {"step": "runtime", "python": sys.version.split()[0], "prefix": str(Path(sys.prefix).resolve())}
    told["loader_path"] = os.environ.get("LD_LIBRARY_PATH", "")
    empty = {"torch": None, "cuda": None, "cudnn": None, "nccl": None, "triton": None}
    try:
        return {**told, **_torch_facts(import_module("torch")), "error": None}
    except Exception as error:
        lists = {"archs": [], "available": False, "devices": [], "libraries": _mapped()}
        return {**told, **empty, **lists, "error": error_text(error)}


def _torch_facts(torch: Any) -> dict[str, Any]:
    cuda = torch.version.cuda
    available = bool(torch.cuda.is_available())
    if cuda and not available and Path("/dev/nvidiactl").exists():
        torch.zeros(1, device="cuda")
    devices = [_device(torch, index) for index in range(torch.cuda.device_count())] if available else []
    return {
        "torch": str(torch.__version__),
        "cuda": cuda,
        "cudnn": torch.backends.cudnn.version() if cuda else None,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())) if cuda else None,
        "triton": _version_of("triton"),
        "archs": list(torch.cuda.get_arch_list()) if available else _compiled_archs(torch),
        "available": available,
        "devices": devices,
        "libraries": _mapped(),
    }


def _compiled_archs(torch: Any) -> list[str]:
    flags = getattr(torch._C, "_cuda_getArchFlags", lambda: None)()
    return flags.split() if flags else []


def _device(torch: Any, index: int) -> dict[str, Any]:
    print(f"first use of cuda:{index}", file=sys.stderr, flush=True)
    torch.zeros(1, device=f"cuda:{index}")
    major, minor = torch.cuda.get_device_capability(index)
    return {"index": index, "name": torch.cuda.get_device_name(index), "major": major, "minor": minor}


def _version_of(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _mapped() -> list[str]:
    return cuda_libraries(Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace"))


def kernels() -> dict[str, Any]:
    """Each kernel on each card; one that fails doesn't keep the others from running."""
    try:
        torch = import_module("torch")
        devices = _devices(torch)
    except Exception as error:
        return {"step": "kernels", "devices": [], "libraries": [], "error": error_text(error)}
    told = [_all_kernels(torch, each) for each in devices]
    return {"step": "kernels", "devices": told, "libraries": _mapped(), "error": None}


def _devices(torch: Any) -> list[str]:
    if torch.version.cuda and torch.cuda.is_available():
        return [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    return ["cpu"]


def _all_kernels(torch: Any, device: str) -> dict[str, Any]:
    wanted: dict[str, Run] = {"matmul": _matmul, "conv2d": _conv2d, "compiled": _compiled}
    if device == "cpu" or torch.cuda.get_device_capability(device) >= (8, 0):
        wanted["bf16"] = _bf16
    return {"device": device, "results": [_kernel(torch, device, name, run) for name, run in wanted.items()]}


def _kernel(torch: Any, device: str, name: str, run: Run) -> dict[str, Any]:
    print(f"{name} on {device}", file=sys.stderr, flush=True)
    begun = time.monotonic()
    told: dict[str, Any] = {"kernel": name, "ppm": None, "error": None}
    try:
        torch.manual_seed(20261130)
        found, right = run(torch, device)
        difference = (found.double().cpu() - right).abs().max().item()
        told["ppm"] = millionths(difference, right.abs().max().item())
    except Exception as error:
        told["error"] = error_text(error)
    return {**told, "ms": round((time.monotonic() - begun) * 1000)}


def _matmul(torch: Any, device: str) -> tuple[Any, Any]:
    left, right = torch.randn(512, 512), torch.randn(512, 512)
    return left.to(device) @ right.to(device), left.double() @ right.double()


def _conv2d(torch: Any, device: str) -> tuple[Any, Any]:
    images, weights = torch.randn(4, 8, 32, 32), torch.randn(16, 8, 3, 3)
    conv = torch.nn.functional.conv2d
    return conv(images.to(device), weights.to(device)), conv(images.double(), weights.double())


def _compiled(torch: Any, device: str) -> tuple[Any, Any]:
    values = torch.randn(4096)

    def function(given: Any) -> Any:
        return (given.sin() * 2 + given).relu()

    return torch.compile(function)(values.to(device)), function(values.double())


def _bf16(torch: Any, device: str) -> tuple[Any, Any]:
    left, right = (torch.randn(256, 256).bfloat16() for _ in range(2))
    return left.to(device) @ right.to(device), left.double() @ right.double()


def collective(deadline_s: float, network: str) -> dict[str, Any]:
    """One process a card; all are ended at the deadline, and those that weren't done are named."""
    told: dict[str, Any] = {"step": "collective", "mb_per_s": None, "network": []}
    try:
        torch = import_module("torch")
        cards = torch.cuda.device_count() if torch.version.cuda and torch.cuda.is_available() else 0
    except Exception as error:
        failed = {"backend": "", "ranks": 0, "finished": 0, "hung": [], "correct": False}
        return {**told, **failed, "error": error_text(error)}
    count, backend = cards or CPU_RANKS, "nccl" if cards else "gloo"
    with tempfile.TemporaryDirectory(prefix="nightshift-probe-") as folder:
        start = [sys.executable, str(Path(__file__).resolve()), "rank", "--place"]
        commands = [[*start, str(own), str(count), backend, folder] for own in range(count)]
        codes = supervise(commands, Path(folder), deadline_s, _rank_environment(network))
        return {**told, "backend": backend, **gathered(Path(folder), codes, network)}


def _rank_environment(network: str) -> dict[str, str]:
    """NCCL's log is asked for only where it has to prove the network."""
    told = {"NCCL_DEBUG": "INFO", "NCCL_NET": network} if network else {}
    return {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "TORCH_NCCL_ASYNC_ERROR_HANDLING": "3", **told}


def supervise(
    commands: Sequence[Sequence[str]], folder: Path, deadline_s: float, environment: dict[str, str]
) -> list[int | None]:
    """Run all at once; exit codes, None for one that was ended at the deadline. Output goes to `rank-N.log`.

    Once one has failed, the others have EXIT_GRACE_S: they'd wait for it until the deadline.
    """
    logs = [folder / f"rank-{rank}.log" for rank in range(len(commands))]
    running = [_start(*each, environment) for each in zip(commands, logs, strict=True)]
    ends = time.monotonic() + deadline_s
    while None in (codes := [each.poll() for each in running]) and time.monotonic() < ends:
        if any(codes):
            ends = min(ends, time.monotonic() + EXIT_GRACE_S)
        time.sleep(0.05)
    return [_code(each) for each in running]


def _start(command: Sequence[str], log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("wb") as target:
        return subprocess.Popen(command, stdout=target, stderr=subprocess.STDOUT, env=environment)


def _code(process: subprocess.Popen[bytes]) -> int | None:
    """A process that the driver holds in the kernel doesn't end; it is left to the kernel."""
    code = process.poll()
    if code is None:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(EXIT_GRACE_S)
    return code


def gathered(folder: Path, codes: Sequence[int | None], network: str) -> dict[str, Any]:
    """What the ranks left: results as JSON files, logs as text."""
    logs = [(folder / f"rank-{rank}.log").read_text(errors="replace") for rank in range(len(codes))]
    results = [json.loads(path.read_text()) for path in sorted(folder.glob("rank-*.json"))]
    speeds = [result["mb_per_s"] for result in results if result["mb_per_s"] is not None]
    failed = [rank for rank, code in enumerate(codes) if code]
    return {
        "ranks": len(codes),
        "finished": sum(code == 0 for code in codes),
        "hung": [rank for rank, code in enumerate(codes) if code is None],
        "correct": len(results) == len(codes) and all(result["correct"] for result in results),
        "mb_per_s": min(speeds) if speeds else None,
        "network": network_lines("\n".join(logs)) if network else [],
        "error": last_words(logs[failed[0]]) if failed else None,
    }


def last_words(log: str) -> str:
    """The line of a failed rank's log that says why."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"[\w.]*(?:Error|Exception)\b", line)]
    return (telling or lines or ["ended without a word"])[-1][:2000]


def rank(place: Sequence[str]) -> None:
    """One process of the collective; leaves `rank-N.json` in the folder when it got through."""
    own, ranks, backend, folder = int(place[0]), int(place[1]), place[2], Path(place[3])
    torch, dist = import_module("torch"), import_module("torch.distributed")
    device = f"cuda:{own}" if backend == "nccl" else "cpu"
    if backend == "nccl":
        torch.cuda.set_device(own)
    store = dist.FileStore(str(folder / "store"), ranks)
    dist.init_process_group(backend, store=store, rank=own, world_size=ranks)
    values = torch.full((SMALL,), float(own + 1), device=device)
    dist.all_reduce(values)
    correct = bool((values == ranks * (ranks + 1) / 2).all().item())
    told = {"correct": correct, "mb_per_s": _timed(torch, dist, device, ranks) if ranks > 1 else None}
    (folder / f"{own}.partial").write_text(json.dumps(told))
    (folder / f"{own}.partial").rename(folder / f"rank-{own}.json")
    dist.destroy_process_group()


def _timed(torch: Any, dist: Any, device: str, ranks: int) -> int:
    """The second of two, since the first one also connects."""
    values = torch.ones(LARGE if device != "cpu" else LARGE // 64, device=device)
    dist.all_reduce(values)
    values.sum().item()
    begun = time.monotonic()
    dist.all_reduce(values)
    values[:1].item()
    return bus_mb_per_s(values.numel() * 4, ranks, time.monotonic() - begun)


def main(arguments: Iterable[str] | None = None) -> int:
    """One JSON object on standard output; whatever libraries print goes to standard error."""
    parser = argparse.ArgumentParser(prog="probe", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("step", choices=("runtime", "kernels", "collective", "rank"))
    parser.add_argument("--deadline", type=float, default=120.0, help="seconds for the collective")
    parser.add_argument("--network", default="", help="NCCL's network by name; its log is read then")
    parser.add_argument("--place", nargs=4, default=[], help=argparse.SUPPRESS)
    given = parser.parse_args(None if arguments is None else list(arguments))
    sys.path[:] = [each for each in sys.path if each != HERE]
    if given.step == "rank":
        rank(given.place)
        return 0
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    steps = {"runtime": runtime, "kernels": kernels}
    told = steps[given.step]() if given.step in steps else collective(given.deadline, given.network)
    with answer:
        answer.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
