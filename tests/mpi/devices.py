# SPDX-License-Identifier: BSD-3-Clause
"""The cases of buffers on devices, with stand-ins for the devices' runtimes (stand_in/)."""

from cases import ALL, BOTH, LEFT, Case, collectives
from forced import in_tree

BRIEF = ("--brief",)
LATE = ("--brief", "--late")
# The kernel would copy garbage: the processor's memory at the address of the device's memory.
KERNEL = {"HUDDLE_CMA": "on", "STAND_IN_DECOY": "1"}
READS = ("bcast", "reduce", "allreduce", "reduce_scatter")


def by_kernel(way):
    """
    Returns settings that force, for each collective, the algorithm with which the kernel reads or
    writes the user's memory.
    """
    ways = {name: "cma_read" if name in READS else way for name in collectives()}
    forced = [(call, name) for call, name in in_tree() if name == ways[call]]
    return {**KERNEL, **{f"HUDDLE_{call.upper()}": name for call, name in forced}}


CUDA = ("cuda/libcuda.so.1", "CUDA's cuStreamSynchronize fails with error 719")
PLAIN = ("cuda_plain/libcuda.so.1", "CUDA's cuMemcpy fails with error 719")
HIP_5 = ("hip_5/libamdhip64.so.5", "HIP's hipMemcpy fails with error 999")
HIP_6 = ("hip_6/libamdhip64.so.6", "HIP's hipMemcpy fails with error 999")
ZE = (
    "ze/libze_loader.so.1",
    "Level Zero's zeCommandListAppendMemoryCopy fails with error 1879048193",
)
HSA = ("hsa/libhsa-runtime64.so.1", "HSA's hsa_memory_copy fails with error 4096")


def on_devices(name, mpis, ranks, library, words=(), env=None):
    """
    Makes cases in which all calls are handled.  In the last case the copies of rank 1 fail on
    purpose: its calls return an error, and a line reports the error.
    """
    path, line = library
    off = "--off" in words
    return Case(
        "devices",
        f"{name}, {ranks} ranks",
        mpis,
        ranks,
        ["{bin}/devices", "{fake}/" + path, *words],
        env=env or {},
        handled=True,
        collectives=list(collectives()),
        leaves=LEFT,
        says=[] if off else [line],
        seconds=200,
    )


DEVICES = [
    on_devices("CUDA", ALL, 3, CUDA),
    on_devices("CUDA, threads", BOTH, 2, CUDA, ("--brief", "--threads")),
    on_devices("said to be none", BOTH, 2, CUDA, ("--off",), {"HUDDLE_DEVICES": "off"}),
    on_devices("CUDA without streams", BOTH, 2, PLAIN, BRIEF),
    on_devices("HIP 6", ALL, 2, HIP_6, BRIEF),
    on_devices("HIP 5", BOTH, 2, HIP_5, BRIEF),
    on_devices("Level Zero", ALL, 2, ZE, BRIEF),
    on_devices("HSA", ALL, 2, HSA, BRIEF),
    on_devices("loaded late", ALL, 2, CUDA, LATE),
    on_devices("where the kernel copies", BOTH, 3, CUDA, env=KERNEL),
    on_devices("where the kernel reads", BOTH, 3, CUDA, BRIEF, by_kernel("cma_read")),
    on_devices("where the kernel writes", BOTH, 3, CUDA, BRIEF, by_kernel("cma_write")),
]
