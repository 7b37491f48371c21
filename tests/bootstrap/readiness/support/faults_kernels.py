"""Faults of computing, on each card and of all together."""

from __future__ import annotations

from bootstrap.readiness.commands import Answer
from bootstrap.readiness.read_probe import collective_command, kernels_command
from nightshift.emulator.sandbox.machines import outputs
from nightshift.emulator.sandbox.machines.description import PYTHON
from tests.bootstrap.readiness.support.changes import (
    Fault,
    ampere,
    answering,
    computing,
    late_library,
    reducing,
    said,
    with_paths,
)

HANG = Answer(-9, "", "matmul on cuda:0\n", late=True)
SHM = "Filesystem     1024-blocks  Used Available Capacity Mounted on\nshm 65536 0 65536 0% /dev/shm\n"
TABLE = (
    Fault(
        "a part of a system cuDNN is loaded late",
        "kernels.provenance",
        "/usr/lib/x86_64-linux-gnu/libcudnn_ops.so.9",
        late_library("/usr/lib/x86_64-linux-gnu/libcudnn_ops.so.9"),
        reports=(20,),
    ),
    Fault(
        "no kernel image for the card",
        "kernels.matmul",
        "no code for this card",
        computing(
            matmul={
                "ppm": None,
                "error": "CUDA error: no kernel image is available for execution on the device",
            }
        ),
        reports=(22,),
    ),
    Fault(
        "a card multiplies wrong",
        "kernels.matmul",
        "wrong by 250000 millionths",
        computing(matmul={"ppm": 250_000}),
    ),
    Fault(
        "a card gives what isn't a number", "kernels.matmul", "not a number", computing(matmul={"ppm": None})
    ),
    Fault(
        "a kernel hangs",
        "kernels.matmul",
        "no answer within its deadline",
        answering(kernels_command(PYTHON), lambda _: HANG),
    ),
    Fault(
        "cuDNN is mixed",
        "kernels.conv2d",
        "a system cuDNN is mixed",
        computing(
            conv2d={
                "ppm": None,
                "error": "RuntimeError: cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
            }
        ),
        reports=(20,),
    ),
    Fault(
        "no Python headers",
        "kernels.compiled",
        "no Python headers",
        computing(
            compiled={
                "ppm": None,
                "error": "InductorError: main.c:5:10: fatal error: Python.h: No such file or directory",
            }
        ),
        reports=(25,),
    ),
    Fault(
        "no compiler",
        "kernels.compiled",
        "no compiler",
        computing(
            compiled={
                "ppm": None,
                "error": "InductorError: RuntimeError: Failed to find C compiler. Please specify via CC",
            }
        ),
        reports=(25,),
    ),
    Fault("bf16 is wrong", "kernels.bf16", "wrong by 90000", computing(bf16={"ppm": 90_000}), ampere),
    Fault(
        "too few open files",
        "collective.files",
        "4096",
        with_paths({"/proc/self/limits": outputs.limits(files="4096")}),
        reports=(40,),
    ),
    Fault(
        "docker's 64 MB of shared memory",
        "collective.shared_memory",
        "64 MiB",
        said(("df", "-Pk", "/dev/shm"), SHM),
        reports=(27,),
    ),
    Fault(
        "NCCL hangs",
        "collective.all_reduce",
        "hung: rank 0",
        reducing(finished=0, hung=[0], correct=False),
        reports=(34,),
    ),
    Fault(
        "the probe of NCCL hangs whole",
        "collective.all_reduce",
        "no answer within its deadline",
        answering(collective_command(PYTHON), lambda _: HANG),
        reports=(34,),
    ),
    Fault("NCCL's sum is wrong", "collective.all_reduce", "a wrong sum", reducing(correct=False)),
    Fault(
        "NCCL fails",
        "collective.all_reduce",
        "/dev/shm is too small",
        reducing(finished=0, correct=False, error="DistBackendError: NCCL error: No space left on device"),
        reports=(27,),
    ),
)
