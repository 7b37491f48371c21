"""The runtime: the right torch, on a driver and cards that it fits, with its own libraries and no others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bootstrap.readiness.check import Check, Result, bad, decided, good, not_asked
from bootstrap.readiness.checks_driver import NO_GPU
from bootstrap.readiness.expectation import Expectation
from bootstrap.readiness.read_nvidia import module
from bootstrap.readiness.read_probe import RuntimeReport, runtime_report
from bootstrap.readiness.read_system import cached_libraries
from bootstrap.readiness.reading import Unreadable
from bootstrap.readiness.situation import Situation
from bootstrap.readiness.symptoms import explained
from nightshift.catalog.cuda import CUDA, at_least, code_for
from nightshift.catalog.runtimes import Runtime

_BUILD = "build the runtime anew from its lock"
_DRIVER_S_OWN = re.compile(r"lib(?:cuda|nvidia-\S+)\.so[.\d]*")
_PLUGIN = re.compile(r"libnccl-net\S*\.so[.\d]*")
_FOREIGN_FOLDER = re.compile(r"/usr/local/cuda|/compat(?:/|$)")
_CLEAR = "take it off the loader's path: /etc/ld.so.conf.d and LD_LIBRARY_PATH"


def imports(situation: Situation, expected: Expectation) -> Result:
    """torch imports in this environment and each card answers once."""
    report = runtime_report(situation)
    if report.error:
        meaning = explained(report.error)
        return bad(f"torch imports in {situation.python}", meaning.found, meaning.remedy)
    return good(f"torch imports in {situation.python}", f"torch {report.torch}, Python {report.python}")


def build(situation: Situation, expected: Expectation) -> Result:
    """The preset's torch, and a CUDA build where cards are to compute."""
    report, runtime = runtime_report(situation), expected.runtime
    found = f"torch {report.torch} for {f'CUDA {report.cuda}' if report.cuda else 'CPU'}"
    if runtime is None:
        return decided(report.cuda is not None, "a torch for CUDA", found, "install a CUDA build of torch")
    wanted = f"torch {runtime.torch} for {f'CUDA {runtime.cuda}' if runtime.cuda else 'CPU'}"
    public = (report.torch or "").partition("+")[0]
    same = public == runtime.torch and (report.cuda == runtime.cuda or runtime.cuda is None)
    return decided(same, wanted, found, f"{_BUILD}; name the CUDA index outright, never by what is detected")


def libraries(situation: Situation, expected: Expectation) -> Result:
    """cuDNN, NCCL and triton as they were pinned; another one was found first otherwise."""
    report, runtime = runtime_report(situation), expected.runtime
    if runtime is None or runtime.cuda is None:
        return not_asked("no preset with CUDA is named")
    wanted = {"cuDNN": cudnn_number(runtime), "NCCL": runtime.nccl, "triton": runtime.triton}
    found = {"cuDNN": report.cudnn, "NCCL": report.nccl, "triton": report.triton}
    return decided(wanted == found, _pairs(wanted), _pairs(found), f"{_BUILD}; see runtime.provenance")


def cudnn_number(runtime: Runtime) -> int | None:
    """As cuDNN 9 counts itself: 9.10.2.21 is 91002."""
    if runtime.cudnn is None:
        return None
    major, minor, patch = (int(part) for part in runtime.cudnn.split(".")[:3])
    return major * 10000 + minor * 100 + patch


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def driver(situation: Situation, expected: Expectation) -> Result:
    """The driver reaches the floor of the CUDA that is really there."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    cuda, version = runtime_report(situation).cuda, module(situation).version
    if cuda is None or cuda not in CUDA:
        raise Unreadable("torch.version.cuda", f"{cuda}, for which no driver is known")
    floor = CUDA[cuda].floor
    return decided(
        at_least(version, floor),
        f"{floor} or newer for CUDA {cuda}",
        version,
        "use an image with a newer driver",
    )


def cards(situation: Situation, expected: Expectation) -> Result:
    """torch sees every card; one too few would train silently on the rest."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    report = runtime_report(situation)
    wanted = f"{expected.cards} GPUs in torch" if expected.cards else "a GPU in torch"
    count = len(report.devices)
    enough = count == expected.cards if expected.cards else count > 0
    found = f"{count}" if report.available else "none: torch.cuda.is_available() is false, so there is no GPU"
    return decided(enough, wanted, found, "see CUDA_VISIBLE_DEVICES and the driver's checks")


def archs(situation: Situation, expected: Expectation) -> Result:
    """Each card runs code of torch's: compiled, or PTX where the driver knows the toolkit."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    report = runtime_report(situation)
    capabilities = sorted({(device.major, device.minor) for device in report.devices})
    wanted = f"code for {', '.join(f'{major}.{minor}' for major, minor in capabilities) or 'the cards'}"
    problems = [line for each in capabilities for line in _arch_problem(situation, report, each)]
    told = "; ".join(problems) or " ".join(report.archs)
    remedy = "use a runtime whose architectures cover the card's compute capability"
    return decided(bool(capabilities) and not problems, wanted, told or "no code", remedy)


def _arch_problem(situation: Situation, report: RuntimeReport, capability: tuple[int, int]) -> Iterable[str]:
    code, name = code_for(report.archs, capability), f"{capability[0]}.{capability[1]}"
    if code is None:
        yield f"none for {name} in {' '.join(report.archs) or 'an empty list'}"
    elif code == "ptx" and not _driver_compiles(situation, report.cuda):
        yield f"only PTX for {name}, and the driver is older than CUDA {report.cuda}'s own"


def _driver_compiles(situation: Situation, cuda: str | None) -> bool:
    """A driver older than the toolkit runs its compiled code but doesn't read its PTX."""
    return cuda is not None and cuda in CUDA and at_least(module(situation).version, CUDA[cuda].toolkit)


def provenance(situation: Situation, expected: Expectation) -> Result:
    """Every mapped library of CUDA is the runtime's own, but for the driver's."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    report = runtime_report(situation)
    return of_its_own(report.libraries, report.prefix)


def of_its_own(libraries: Iterable[str], prefix: str) -> Result:
    """The finding on mapped libraries. Raises Unreadable when there is none."""
    mapped = tuple(libraries)
    strange = [path for path in mapped if not _own(path, prefix)]
    several = [path for path in mapped if re.search(r"/libnccl\.so[.\d]*$", path)]
    if len(several) > 1:
        strange += [path for path in several if path not in strange]
    if not mapped:
        raise Unreadable("/proc/self/maps", "no library of CUDA mapped")
    wanted = f"libraries of CUDA from {prefix}, one libnccl"
    told = ", ".join(strange) if strange else f"{len(mapped)} of its own or the driver's"
    return decided(not strange, wanted, told, _CLEAR)


def _own(path: str, prefix: str) -> bool:
    name = path.rpartition("/")[2]
    if _DRIVER_S_OWN.fullmatch(name):
        return not _FOREIGN_FOLDER.search(path)
    return path.startswith(f"{prefix}/") or bool(_PLUGIN.fullmatch(name))


def loader(situation: Situation, expected: Expectation) -> Result:
    """Nothing on the loader's path that would come between torch and its own libraries."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    path = runtime_report(situation).loader_path
    found = [f"LD_LIBRARY_PATH has {part}" for part in path.split(":") if _FOREIGN_FOLDER.search(part)]
    for line in cached_libraries(situation):
        name, _, where = line.partition(" => ")
        if name.startswith("libcudnn") or (name.startswith("libcuda.so") and "/compat/" in where):
            found.append(f"{name.split(' ')[0]} in {where}")
    told = "; ".join(found[:4]) or "none"
    return decided(not found, "no system cuDNN, CUDA toolkit or cuda-compat before torch's own", told, _CLEAR)


CHECKS = (
    Check("runtime.imports", imports, "torch imports", "see the runtime's Python: name it with --python"),
    Check("runtime.build", build, "the preset's torch", _BUILD),
    Check("runtime.libraries", libraries, "the preset's libraries", _BUILD),
    Check("runtime.driver", driver, "a driver for torch's CUDA", "take a runtime that the catalog knows"),
    Check("runtime.cards", cards, "every card in torch", "see the driver's checks"),
    Check("runtime.archs", archs, "code for every card", "take another runtime"),
    Check("runtime.provenance", provenance, "the runtime's own libraries", _CLEAR),
    Check("runtime.loader", loader, "a clean loader path", _CLEAR),
)
