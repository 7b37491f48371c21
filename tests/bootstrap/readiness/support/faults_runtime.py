"""Faults of the runtime: what torch is and what it finds."""

from __future__ import annotations

from nightshift.emulator.sandbox.machines.description import PREFIX
from tests.bootstrap.readiness.support.changes import (
    Fault,
    fewer_in_torch,
    importing,
    loaded,
    runtime_libraries,
    telling,
)

TABLE = (
    Fault(
        "torch isn't installed",
        "runtime.imports",
        "torch isn't installed",
        importing("ModuleNotFoundError: No module named 'torch'"),
    ),
    Fault(
        "another toolkit's nvJitLink comes first",
        "runtime.imports",
        "another CUDA toolkit",
        importing("ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4"),
        reports=(17,),
    ),
    Fault(
        "an older NCCL comes first",
        "runtime.imports",
        "an older NCCL comes first",
        importing("ImportError: libtorch_cuda.so: undefined symbol: ncclCommRegister"),
        reports=(18,),
    ),
    Fault(
        "CUDA error 802",
        "runtime.imports",
        "fabric isn't ready (802)",
        importing(
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized"
        ),
        reports=(12, 15),
    ),
    Fault(
        "CUDA error 803",
        "runtime.imports",
        "disagree (803)",
        importing("RuntimeError: Error 803: system has unsupported display driver / cuda driver combination"),
        reports=(21,),
    ),
    Fault(
        "CUDA error 804",
        "runtime.imports",
        "cuda-compat on hardware",
        importing("RuntimeError: Error 804: forward compatibility was attempted on non supported HW"),
        reports=(21,),
    ),
    Fault(
        "a CPU wheel was chosen",
        "runtime.build",
        "for CPU",
        telling(torch="2.8.0+cpu", cuda=None, cudnn=None, nccl=None),
        reports=(23,),
    ),
    Fault("a wheel for another CUDA", "runtime.build", "CUDA 12.6", telling(cuda="12.6"), reports=(23,)),
    Fault("another torch", "runtime.build", "torch 2.7.1", telling(torch="2.7.1+cu128")),
    Fault("another cuDNN is loaded", "runtime.libraries", "cuDNN 90100", telling(cudnn=90100), reports=(20,)),
    Fault(
        "another NCCL is loaded", "runtime.libraries", "NCCL 2.18.1", telling(nccl="2.18.1"), reports=(18,)
    ),
    Fault("torch sees one card less", "runtime.cards", "GPUs in torch", fewer_in_torch),
    Fault(
        "no code for the card", "runtime.archs", "none for", telling(archs=["sm_50", "sm_61"]), reports=(22,)
    ),
    Fault(
        "a toolkit's library is mapped",
        "runtime.provenance",
        "/usr/local/cuda-13.2/lib64/libcublas.so.13",
        runtime_libraries("/usr/local/cuda-13.2/lib64/libcublas.so.13"),
        reports=(17,),
    ),
    Fault(
        "two NCCL are mapped",
        "runtime.provenance",
        f"{PREFIX}/lib/libnccl.so.2",
        runtime_libraries(f"{PREFIX}/lib/libnccl.so.2"),
        reports=(18,),
    ),
    Fault(
        "libcuda comes from cuda-compat",
        "runtime.provenance",
        "/compat/",
        runtime_libraries("/usr/local/cuda-13.2/compat/libcuda.so.595.71.05"),
        reports=(21,),
    ),
    Fault(
        "a system cuDNN on the loader's path",
        "runtime.loader",
        "libcudnn.so.9 in",
        loaded("libcudnn.so.9 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcudnn.so.9"),
        reports=(20,),
    ),
    Fault(
        "cuda-compat on the loader's path",
        "runtime.loader",
        "/compat/",
        loaded("libcuda.so.1 (libc6,x86-64) => /usr/local/cuda-13.2/compat/libcuda.so.1"),
        reports=(21,),
    ),
    Fault(
        "LD_LIBRARY_PATH leads to a toolkit",
        "runtime.loader",
        "LD_LIBRARY_PATH has /usr/local/cuda/lib64",
        telling(loader_path="/usr/local/cuda/lib64"),
        reports=(17,),
    ),
)
