# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
#   course:
#     lesson: "01"
#     title: One program, many processes
#     promise: >-
#       After this lesson you can say which process your code runs in, give it the right device
#       and backend, let one rank go first without hanging the others, and add up a number over
#       all ranks.
#     minutes: {reading: 30, exercises: 45}
#     needs: []
# ---

# %% [markdown]
# # Lesson 01: One program, many processes
#
# **After this lesson you can** say which process your code runs in, give it the right device and
# backend, let one rank go first without hanging the others, and add up a number over all ranks.
#
# **Time:** 30 minutes to read, 45 minutes for five exercises. **You need:** to have trained a
# model with PyTorch on one device. You do not need a GPU: everything here also runs on a
# laptop's CPU.
#
# How to work: `lessons/01/ranks.py` holds five exercises, functions that raise
# `NotImplementedError`. Write them one by one. `pytest lessons/01` tells you how far you are and
# what is wrong. `python lessons/01/ranks.py` shows the examples with your code in them.

# %%
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import torch
import torch.distributed as dist

from ddp_grader import caught, device, show

T = TypeVar("T")

# %% [markdown]
# ## Why several processes?
#
# You train on one GPU. It is busy all the time, and you want the result sooner. You own four
# GPUs. What should the other three do?
#
# The answer of this course is *data parallelism*: each GPU holds a copy of the model and works
# on its own part of each batch. Then the GPUs average their gradients, so that all copies take
# the same step.
#
# Who drives the four GPUs? One Python process could, with four threads. But only one thread of a
# Python process runs Python code at a time (Python's *global interpreter lock*), so the threads
# would wait for each other. (`torch.nn.DataParallel` works that way, and [its own
# page](https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html) advises
# against it.) And one process cannot reach the GPUs of a second machine.
#
# So we start **the same program four times**. Four processes, one for each GPU:
#
# ```mermaid
# flowchart TB
#     L["launcher: torchrun --nproc-per-node=4 train.py"]
#     L --> P0["process 0<br/>python train.py"]
#     L --> P1["process 1<br/>python train.py"]
#     L --> P2["process 2<br/>python train.py"]
#     L --> P3["process 3<br/>python train.py"]
#     P0 --- G0["GPU 0"]
#     P1 --- G1["GPU 1"]
#     P2 --- G2["GPU 2"]
#     P3 --- G3["GPU 3"]
#     P0 <-. messages .-> P1
#     P1 <-. messages .-> P2
#     P2 <-. messages .-> P3
# ```
#
# This style is called **SPMD**: *single program, multiple data*. There is no main program that
# hands out work. Every process runs every line of `train.py`, from the first to the last. They
# differ in one thing only: each is told its own number. This number is called the **rank**, and
# everything that a process does differently from the others follows from it.
#
# Here is a first SPMD program. Three processes share the work of adding up six numbers. `show`
# belongs to this course: it runs a function on several ranks and prints what each of them
# printed.


# %%
def demo_share_the_work():
    numbers = [10, 20, 30, 40, 50, 60]
    rank = int(os.environ["RANK"])
    world_size = int(os.environ["WORLD_SIZE"])
    mine = numbers[rank::world_size]  # every world_size-th number, starting with my own
    print(f"I am rank {rank} of {world_size}. My numbers are {mine}, their sum is {sum(mine)}.")


if __name__ == "__main__":
    show(demo_share_the_work, ranks=3, group=False)

# %% [markdown]
# ```output
# rank 0 | I am rank 0 of 3. My numbers are [10, 40], their sum is 50.
# rank 1 | I am rank 1 of 3. My numbers are [20, 50], their sum is 70.
# rank 2 | I am rank 2 of 3. My numbers are [30, 60], their sum is 90.
# ```

# %% [markdown]
# Three partial sums: 50, 70 and 90. Nobody knows the total of 210 yet. At the end of this lesson
# you will write the function that finds it.
#
# First, notice what processes do *not* have: common memory. A variable exists once in each
# process.


# %%
counter = 0


def demo_nothing_is_shared():
    global counter
    counter += 10 ** int(os.environ["RANK"])  # adds 1 on rank 0, 10 on rank 1, 100 on rank 2
    print(f"counter is {counter}")


if __name__ == "__main__":
    show(demo_nothing_is_shared, ranks=3, group=False)

# %% [markdown]
# ```output
# rank 0 | counter is 1
# rank 1 | counter is 10
# rank 2 | counter is 100
# ```

# %% [markdown]
# With threads, some line would have said 111. Here each rank changed its own `counter`. What one
# rank knows, another rank learns only if it is *sent*.
#
# ### In practice: everything happens N times
#
# **What you see.** Every log line comes several times, in an order that changes from run to run.
# This is `torchrun --standalone --nproc-per-node=3 hello.py`, where `hello.py` has a single
# `print`:
#
# ```text
# hello from rank 1 of 3
# hello from rank 0 of 3
# hello from rank 2 of 3
# ```
#
# **Why.** Three processes ran the line, at the same time. So does every other line: three
# processes parse the arguments, download the data, create the output folder, and write the
# checkpoint, all to the same path.
#
# **What to do.** For each line with an effect outside the process (a file, a log, a download),
# ask: should all ranks do this, or one? For one, write `if rank == 0:`. Exercise 1.4 treats the
# case in which the others must wait for that one.

# %% [markdown]
# ## Who am I?
#
# A process needs to know more than its rank. Say you run on two machines (also called *nodes*)
# with two GPUs each:
#
# ```mermaid
# flowchart TB
#     subgraph N0["node 0"]
#         A["rank 0<br/>local rank 0"] --- GA["its GPU 0"]
#         B["rank 1<br/>local rank 1"] --- GB["its GPU 1"]
#     end
#     subgraph N1["node 1"]
#         C["rank 2<br/>local rank 0"] --- GC["its GPU 0"]
#         D["rank 3<br/>local rank 1"] --- GD["its GPU 1"]
#     end
# ```
#
# The launcher gives each process five numbers, in environment variables:
#
# | variable | its name in this course | what it says | node 1's second process |
# |---|---|---|---|
# | `RANK` | rank (or *global rank*) | my number among all processes, from 0 | 3 |
# | `LOCAL_RANK` | local rank | my number among the processes of my node, from 0 | 1 |
# | `WORLD_SIZE` | world size | how many processes there are in all | 4 |
# | `LOCAL_WORLD_SIZE` | local world size | how many there are on my node | 2 |
# | `GROUP_RANK` | node rank | my node's number, from 0 | 1 |
#
# The last name is odd: torchrun calls the processes of one node a *worker group*. It sets no
# variable `NODE_RANK`. All variables are listed on [torchrun's
# page](https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables).
#
# What is each one for?
#
# - The **rank** says which part of the data is mine, and whether I am the one (rank 0) that logs
#   and saves.
# - The **local rank** says which of this machine's GPUs is mine.
# - The **world size** says how many parts there are.
#
# Without a launcher, in a plain `python train.py`, none of the five is set. A good script still
# runs then, as the only process of a world of size 1. So reading these variables gets a function
# of its own. Its result is this small class:


# %%
@dataclass(frozen=True)
class RankInfo:
    """Which process this is, and how many there are."""

    rank: int
    local_rank: int
    world_size: int
    local_world_size: int
    node_rank: int


# %% [markdown]
# ### Exercise 1.1: who am I?


# %% exercise="1.1" title="Read the environment"
def read_rank_env() -> RankInfo:
    """Find out from torchrun's environment variables which process this is.

    The fields come from RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE and GROUP_RANK (the node
    rank). Each is read, none is computed from the others: nodes may run different numbers of
    processes.

    The function reads the environment anew at each call and changes nothing in it. It needs no
    process group.

    Returns:
        A RankInfo of five ints. If none of the five variables is set (plain `python train.py`),
        this process is alone: RankInfo(rank=0, local_rank=0, world_size=1, local_world_size=1,
        node_rank=0).
    """
    # BEGIN SOLUTION
    return RankInfo(
        rank=int(os.environ.get("RANK", 0)),
        local_rank=int(os.environ.get("LOCAL_RANK", 0)),
        world_size=int(os.environ.get("WORLD_SIZE", 1)),
        local_world_size=int(os.environ.get("LOCAL_WORLD_SIZE", 1)),
        node_rank=int(os.environ.get("GROUP_RANK", 0)),
    )
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `os.environ` is a dictionary. Its values are always strings. `os.environ.get(name, default)`
# gives the default where the variable is missing.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Ranks count from 0, sizes from 1. A process that is alone has rank 0 in a world of size 1.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The first field is `rank=int(os.environ.get("RANK", 0))`. The other four look the same, with
# other names, and 1 as the default of the two sizes.
#
# </details>


# %%
def demo_who_am_i():
    print(read_rank_env())


if __name__ == "__main__":
    show(demo_who_am_i, ranks=2, group=False)

# %% [markdown]
# ```output
# rank 0 | RankInfo(rank=0, local_rank=0, world_size=2, local_world_size=2, node_rank=0)
# rank 1 | RankInfo(rank=1, local_rank=1, world_size=2, local_world_size=2, node_rank=0)
# ```

# %% [markdown]
# ### In practice: rank 0 never saves
#
# **What you see.** Nothing. The training ends well, and there is no checkpoint and no log.
#
# **Why.** `if os.environ["RANK"] == 0:` compares the string `"0"` with the number 0. In Python
# this is not an error, it is `False`, on every rank.
#
# **What to do.** Turn the variables into ints once, in one place. That place is your
# `read_rank_env`.
#
# ### In practice: the variables mean something else
#
# **What you see.** You start `python train.py` on a cluster without torchrun. With 2 machines of
# 8 GPUs, only 2 GPUs work: GPU 0 of each machine.
#
# **Why.** Some platforms set `RANK` and `WORLD_SIZE` too, for *machines* instead of processes,
# so that you can write `torchrun --nnodes=$WORLD_SIZE --node-rank=$RANK ...`. One example is
# [Alibaba's
# PAI-DLC](https://www.alibabacloud.com/help/en/pai/user-guide/general-environment-variables).
# `LOCAL_RANK` is missing there, and its default of 0 sends every process to GPU 0.
#
# **What to do.** Start one process for each GPU, with torchrun. A strict script refuses an
# environment that has `RANK` without `LOCAL_RANK`.

# %% [markdown]
# ## From node and local rank to rank, and back
#
# Someone has to choose the numbers. Often it is torchrun; sometimes it is you, in a launch
# script. If every node runs the same number of processes, the rule is short: ranks count through
# the first node, then through the second, and so on. With 4 processes on each node:
#
# | | local rank 0 | local rank 1 | local rank 2 | local rank 3 |
# |---|---|---|---|---|
# | **node 0** | 0 | 1 | 2 | 3 |
# | **node 1** | 4 | 5 | 6 | 7 |
# | **node 2** | 8 | 9 | 10 | 11 |
#
# You know this layout: it is how a matrix of 3 rows and 4 columns lies in memory. The node is
# the row, the local rank is the column.
#
# ### Exercise 1.2: both directions


# %% exercise="1.2" title="Global and local ranks"
def global_rank(node_rank: int, local_rank: int, nproc_per_node: int) -> int:
    """The rank of a process, if every node runs nproc_per_node processes.

    Args:
        node_rank: The node's number, from 0.
        local_rank: The process's number on its node, 0 <= local_rank < nproc_per_node.
        nproc_per_node: Processes on each node, at least 1.
    """
    # BEGIN SOLUTION
    return node_rank * nproc_per_node + local_rank
    # END SOLUTION


def locate(rank: int, nproc_per_node: int) -> tuple[int, int]:
    """Where a rank runs: the inverse of global_rank.

    Returns:
        The tuple (node_rank, local_rank), two ints.
    """
    # BEGIN SOLUTION
    return divmod(rank, nproc_per_node)
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# How many ranks have their place before the first process of node 2? How far is a process from
# the first one of its own node?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Going back is a division with remainder: `//` and `%`. Python's `divmod` does both at once.
# Divide by the number of processes *on a node*, not by the world size.
#
# </details>


# %%
def demo_ranks():
    for node_rank in range(3):
        print(f"node {node_rank}:", [global_rank(node_rank, local, 4) for local in range(4)])
    node_rank, local_rank = locate(6, 4)
    print(f"rank 6 is on node {node_rank} and has local rank {local_rank}")


if __name__ == "__main__":
    show(demo_ranks, ranks=1, group=False)

# %% [markdown]
# ```output
# rank 0 | node 0: [0, 1, 2, 3]
# rank 0 | node 1: [4, 5, 6, 7]
# rank 0 | node 2: [8, 9, 10, 11]
# rank 0 | rank 6 is on node 1 and has local rank 2
# ```

# %% [markdown]
# Use this arithmetic to *launch* processes. Inside a process, read the variables. Nodes may
# differ: two torchrun commands, one with `--nproc-per-node=2` and one with `--nproc-per-node=3`,
# work well together. They gave the three processes of node 1 the ranks 2, 3 and 4, while
# `node_rank * nproc_per_node + local_rank` would be 3, 4 and 5.
#
# ### In practice: it works until the second node
#
# **What you see.** Months of good runs on one machine. On the first day with two, every process
# of the second machine ends with
#
# ```text
# RuntimeError: CUDA error: invalid device ordinal
# ```
#
# **Why.** The script says `torch.cuda.set_device(rank)`. On the first machine rank and local
# rank are the same number. On the second, rank 8 asks for GPU 8 of a machine whose GPUs are 0 to
# 7 ([a report](https://github.com/meta-llama/llama-cookbook/issues/90), one of many).
# `rank % world_size` is no cure: it is just `rank`.
#
# **What to do.** The local rank chooses the device. Nothing else does.

# %% [markdown]
# ## A device and a backend
#
# Now each process knows its local rank and can take the GPU with this number:
#
# ```python
# device = torch.device("cuda", local_rank)
# torch.cuda.set_device(device)      # or torch.accelerator.set_device_index(local_rank)
# model.to(device)
# ```
#
# The second line makes it the *current device* of this process. Plain `"cuda"`, `.cuda()` and
# NCCL, which you meet in a moment, all use the current device, and it is GPU 0 until you say
# otherwise. (The numbers count the GPUs that the process may see. Under
# `CUDA_VISIBLE_DEVICES=2,3`, `cuda:0` is the machine's third GPU.)
#
# How does a program find out whether there are GPUs?
# [`torch.accelerator`](https://docs.pytorch.org/docs/stable/accelerator.html) asks for any kind
# of accelerator, [`torch.cuda`](https://docs.pytorch.org/docs/stable/cuda.html) for NVIDIA's and
# AMD's. Both know two different questions, and they are easily confused:
#
# | question | call | on a machine without GPU |
# |---|---|---|
# | what was PyTorch *built* for? | `torch.accelerator.current_accelerator()` | `cuda` |
# | | `dist.is_nccl_available()` | `True` |
# | what is *here*, now? | `torch.accelerator.is_available()` | `False` |
# | | `torch.accelerator.device_count()` | `0` |
# | | `torch.cuda.is_available()` | `False` |
# | | `torch.cuda.device_count()` | `0` |
#
# The last column shows what these calls returned after the usual `pip install torch` on Linux.
# To choose a device, ask what is here.
#
# The **backend** is the library that carries messages between the processes. The tensors that
# you send must live on a device that it can read:
#
# | backend | tensors on | made for |
# |---|---|---|
# | `nccl` | CUDA GPUs | training on GPUs: data goes from GPU to GPU, by NVLink, PCIe or network |
# | `gloo` | CPU | CPU training, tests, and learning: it runs everywhere |
#
# So the device comes first, and the backend follows from it. [PyTorch's
# page](https://docs.pytorch.org/docs/stable/distributed.html#which-backend-to-use) gives the
# same advice.
#
# ### Exercise 1.3: the right device, the right backend


# %% exercise="1.3" title="Device and backend"
def pick_device(local_rank: int) -> torch.device:
    """The device that the process with this local rank trains on.

    Only the argument chooses the GPU; the environment variable RANK does not matter.

    Args:
        local_rank: The process's number on its own machine, from 0.

    Returns:
        torch.device("cuda", local_rank) where there are CUDA GPUs (AMD's are called "cuda", too),
        else torch.device("cpu"). The single GPU of a Mac ("mps") does not count: ranks would have
        to share it.

    Raises:
        RuntimeError: If there are GPUs, but too few for this local rank. The message gives the
            local rank and the number of GPUs.
    """
    # BEGIN SOLUTION
    gpus = torch.cuda.device_count()
    if gpus == 0:
        return torch.device("cpu")
    if local_rank >= gpus:
        raise RuntimeError(
            f"local rank {local_rank} has no GPU: this machine has {gpus}. "
            "Start fewer processes on it."
        )
    return torch.device("cuda", local_rank)
    # END SOLUTION


def pick_backend(device: torch.device) -> str:
    """The backend for tensors on this device: "nccl" for a CUDA device, "gloo" for the CPU.

    The device alone decides, not what this machine has or PyTorch was built with.
    """
    # BEGIN SOLUTION
    return "nccl" if device.type == "cuda" else "gloo"
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# There are three cases: no GPU at all; GPUs, and one of them has this number; GPUs, but none
# with this number. Local ranks count from 0, so a machine with 4 GPUs has room for the local
# ranks 0 to 3.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.cuda.device_count()` is 0 without GPUs. `torch.device("cuda", 5)` is only a name: it
# raises nothing even on a machine without GPUs, so the check is up to you. Taking
# `local_rank % device_count()` instead of raising puts two processes on one GPU.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# gpus = torch.cuda.device_count()
# if gpus == 0:
#     return ...
# if local_rank >= gpus:
#     raise RuntimeError(f"local rank {local_rank} has no GPU: this machine has {gpus}")
# return ...
# ```
#
# In `pick_backend`, look at `device.type`.
#
# </details>


# %%
def demo_pick_device():
    chosen = pick_device(read_rank_env().local_rank)
    print(f"I work on {chosen} and talk through {pick_backend(chosen)}")


if __name__ == "__main__":
    show(demo_pick_device, ranks=1, group=False)

# %% [markdown]
# ```output
# rank 0 | I work on cpu and talk through gloo
# ```

# %% [markdown]
# This is the output on a machine without GPU. With GPUs it is `cuda:0` and `nccl`.
#
# ### In practice: the wrong backend for the machine
#
# **What you see.** A script from a GPU server, started on a laptop:
#
# ```text
# ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!
# ```
#
# **Why.** It chose `"nccl" if dist.is_nccl_available() else "gloo"`. That asks what PyTorch was
# built with.
#
# **What to do.** Choose by the device, as `pick_backend` does.
#
# ### In practice: everyone is on GPU 0
#
# **What you see.** `nvidia-smi` lists all your processes on GPU 0, and it runs out of memory
# while the other GPUs are idle
# ([pytorch/examples#969](https://github.com/pytorch/examples/issues/969)). Or NCCL refuses at
# the first message ([an example](https://github.com/verl-project/verl/issues/161)):
#
# ```text
# torch.distributed.DistBackendError: NCCL error in: ...
# Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10
# ```
#
# **Why.** Some line says `.cuda()` or `device="cuda"` without a number, and nobody called
# `set_device`.
#
# **What to do.** Call `torch.cuda.set_device(local_rank)` at the start, before the first tensor
# goes to a GPU and before the process group is made. Then these lines mean the right GPU.

# %% [markdown]
# ## The process group, and waiting for each other
#
# Up to now the processes knew *of* each other. To talk, they form a **process group**:
#
# ```python
# dist.init_process_group(backend)   # every rank calls this; it returns when all have come
# ...
# dist.destroy_process_group()
# ```
#
# How they find each other is the subject of lesson 02. Until then `show` and the grader make the
# group for you. With a group, `dist.get_rank()` and `dist.get_world_size()` work. Without one,
# they raise `ValueError: Default process group has not been initialized, please make sure to
# call init_process_group.`
#
# Most functions of `torch.distributed` are **collectives**: calls that the ranks of the group
# make *together*. Two of them are enough for the next exercise:
#
# - [`dist.barrier()`](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.barrier)
#   returns when every rank has called it. It carries no data.
# - [`dist.broadcast_object_list(objects, src=0)`](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast_object_list)
#   copies a list of Python objects from rank `src` to all ranks. They travel by `pickle`. Every
#   rank passes a list of the same length, and it is overwritten everywhere but on `src`. No rank
#   gets past this call before `src` has made it.


# %%
def demo_broadcast():
    message = ["the plan of rank 0"] if dist.get_rank() == 0 else [None]
    print(f"before: {message}")
    dist.broadcast_object_list(message, src=0)
    print(f"after:  {message}")


if __name__ == "__main__":
    show(demo_broadcast, ranks=3)

# %% [markdown]
# ```output
# rank 0 | before: ['the plan of rank 0']
# rank 0 | after:  ['the plan of rank 0']
# rank 1 | before: [None]
# rank 1 | after:  ['the plan of rank 0']
# rank 2 | before: [None]
# rank 2 | after:  ['the plan of rank 0']
# ```

# %% [markdown]
# One rule comes with collectives. It is the most important one of this course:
#
# > **Every rank of the group makes the same collectives in the same order.**
#
# If one rank stays away, the others wait. There is no error, there is silence, until a timeout
# ends it: by default after 10 minutes with NCCL, 30 minutes with Gloo. So each time you write
# `if rank == 0:`, make sure that there is no collective inside. And each time you write a
# collective, ask whether every rank will get there, *also when something fails*.
#
# Here is a typical place. All ranks need a dataset. Rank 0 downloads it, the others must wait,
# and then read the file. This looks right:
#
# ```python
# if rank == 0:
#     download()
# dist.barrier()
# data = load()
# ```
#
# And it is right, until the disk is full:
#
# ```mermaid
# sequenceDiagram
#     participant R0 as rank 0
#     participant R1 as rank 1
#     participant R2 as rank 2
#     Note over R0: download()
#     R1->>R1: barrier(): wait
#     R2->>R2: barrier(): wait
#     Note over R0: OSError: No space left on device
#     Note over R0: leaves without barrier()
#     Note over R1,R2: still waiting for rank 0
# ```
#
# If the exception ends rank 0's process, Gloo's ranks notice the closed connection, and torchrun
# ends the rest. But if rank 0 lives on, because a notebook, a `try`, or a slow clean-up keeps it
# alive, the others wait out the timeout. They should learn *that* rank 0 failed, and also *why*.
#
# ### Exercise 1.4: rank 0 goes first


# %% exercise="1.4" title="Rank 0 goes first"
def rank_zero_first(fn: Callable[[], T]) -> T:
    """Call fn on every rank, on the others only after it has returned on rank 0.

    Typical use: fn downloads a file unless it exists, and opens it. Needs an initialised process
    group. Every rank calls this function, and it calls fn once on each rank.

    If fn raises on rank 0, whatever the Exception, also one that cannot be pickled:
      - rank 0 raises that same exception;
      - every other rank raises an exception, without having called fn. (Good manners: a
        RuntimeError that quotes rank 0's.)
      - nobody hangs, and the group can be used afterwards, for example for another try.
    If fn raises on another rank, that rank raises this exception, and nobody hangs.

    Returns:
        On each rank, what its own call of fn returned. This may be anything: None, or an object
        that cannot be pickled.
    """
    # BEGIN SOLUTION
    error = result = None
    if dist.get_rank() == 0:
        try:
            result = fn()
        except Exception as e:
            error = e
    # Exceptions do not always survive pickling, their text does.
    news = [None if error is None else f"{type(error).__name__}: {error}"]
    dist.broadcast_object_list(news, src=0)
    if error is not None:
        raise error
    if news[0] is not None:
        raise RuntimeError(f"rank 0 failed, so this rank did not start: {news[0]}")
    return result if dist.get_rank() == 0 else fn()
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Rank 0 must reach the collective even if `fn` raises. So catch the exception, keep it, go to
# the collective, and raise it *after* that.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A barrier tells the others that rank 0 has finished. It cannot tell them how it went. Broadcast
# a word about that instead: no rank gets past the broadcast before rank 0 has made it, so it is
# a barrier in this direction as well.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Do not broadcast the exception itself. `urllib`'s `HTTPError`, what a failed download raises,
# says `TypeError: cannot pickle '_io.BufferedReader' object`. Its text is a plain string.
#
# </details>
#
# <details><summary>Hint 4</summary>
#
# ```python
# error = result = None
# if dist.get_rank() == 0:
#     try:
#         result = fn()
#     except Exception as e:
#         error = e
# news = [None if error is None else repr(error)]   # a string, or None
# dist.broadcast_object_list(news, src=0)
# # now all ranks know: raise, or go on
# ```
#
# </details>


# %%
def demo_rank_zero_first(folder):
    file = Path(folder, "numbers.txt")

    def fetch():
        if file.exists():
            return f"found the file, it says {file.read_text()!r}"
        file.write_text("3 1 4 1 5")
        return "wrote the file"

    print(rank_zero_first(fetch))


def demo_rank_zero_fails():
    def fetch():
        raise OSError("No space left on device")

    error = caught(rank_zero_first, fetch)  # the exception that rank_zero_first(fetch) raises
    print(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        show(demo_rank_zero_first, ranks=3, args=(folder,))
    show(demo_rank_zero_fails, ranks=3)

# %% [markdown]
# ```output
# rank 0 | wrote the file
# rank 1 | found the file, it says '3 1 4 1 5'
# rank 2 | found the file, it says '3 1 4 1 5'
# rank 0 | OSError: No space left on device
# rank 1 | RuntimeError: rank 0 failed, so this rank did not start: OSError: No space left on device
# rank 2 | RuntimeError: rank 0 failed, so this rank did not start: OSError: No space left on device
# ```

# %% [markdown]
# ### In practice: the barrier inside the `if`
#
# **What you see.** The job stands still at the start. No error, no output, GPUs idle or spinning
# at 100 %.
#
# **Why.** `if rank == 0: download(); dist.barrier()`. Rank 0 waits in a barrier that no other
# rank ever calls.
#
# **What to do.** Move the barrier out of the `if`. To find such a place in a job that hangs now,
# look at each process's stack with `py-spy dump --pid PID`: the line where one rank waits and
# another does not is the line to read.
#
# ### In practice: the download takes longer than the timeout
#
# **What you see.** The first run on a new dataset fails after exactly 10 or 30 minutes; the
# second run works. With NCCL ([an example](https://github.com/IGNF/myria3d/issues/123)):
#
# ```text
# Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=1,
# NumelOut=1, Timeout(ms)=1800000) ran for 1800008 milliseconds before timing out.
# ```
#
# With Gloo and a timeout of 2 seconds, one rank says what happened and the other only that it
# lost its partner:
#
# ```text
# rank 1 RuntimeError: [...] Timed out waiting 2000ms for recv operation to complete
# rank 0 RuntimeError: [...] Connection closed by peer [127.0.0.1]:5002. This is typically caused
#        by a remote worker crashing.
# ```
#
# **Why.** Waiting in a barrier counts against the group's timeout. (NCCL's barrier is an
# all-reduce of one element: this is the `NumelIn=1` above.) Rank 0 was still preparing the data
# when the others gave up.
#
# **What to do.** Prepare large data in a script of its own, before training. Or pass a longer
# `timeout=timedelta(hours=2)` to `init_process_group`. And when several ranks fail, read the
# *earliest* error first: the 'connection closed' ones are mostly consequences.
#
# ### In practice: the file is not there, on node 1
#
# **What you see.** `FileNotFoundError`, on all ranks of the second machine.
#
# **Why.** Rank 0 downloaded to the disk of the first machine.
#
# **What to do.** Use a folder that all machines share. Or let the process with local rank 0 go
# first, on each machine.

# %% [markdown]
# ## The first collective with data: all_reduce
#
# Training needs collectives for numbers: the sum of all gradients, the loss over all ranks, the
# count of correct answers. The one that you will meet again and again is
# [`dist.all_reduce(tensor)`](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce).
# It adds the tensors of all ranks, element by element, and puts the sum into each rank's tensor:
#
# ```mermaid
# flowchart LR
#     A["rank 0: [1, 10]"] --> S(("+"))
#     B["rank 1: [2, 20]"] --> S
#     C["rank 2: [3, 30]"] --> S
#     S --> D["rank 0: [6, 60]"]
#     S --> E["rank 1: [6, 60]"]
#     S --> F["rank 2: [6, 60]"]
# ```


# %%
def demo_all_reduce():
    x = torch.tensor([1.0, 10.0], device=device()) * (dist.get_rank() + 1)
    print(f"before: {x.tolist()}")
    dist.all_reduce(x)
    print(f"after:  {x.tolist()}")


if __name__ == "__main__":
    show(demo_all_reduce, ranks=3)

# %% [markdown]
# ```output
# rank 0 | before: [1.0, 10.0]
# rank 0 | after:  [6.0, 60.0]
# rank 1 | before: [2.0, 20.0]
# rank 1 | after:  [6.0, 60.0]
# rank 2 | before: [3.0, 30.0]
# rank 2 | after:  [6.0, 60.0]
# ```

# %% [markdown]
# What to know about it:
#
# - It works **in place**: the tensor that you pass is overwritten. Call it twice on the same
#   tensor and you get the sum of the sums.
# - **All** ranks get the result. (`dist.reduce(tensor, dst=0)` gives it to one.)
# - The sum is the default. `op=dist.ReduceOp.MAX` takes the maximum instead, and so on.
# - The tensor lives **where the backend reads**: on the CPU for Gloo, on this rank's GPU for
#   NCCL. `device()` comes from this course and says which it is here. In your own script it is
#   the device that you picked.
# - Shape and **dtype** must be the same on all ranks. By default, nobody checks this for you.
#
# The last point matters for Python numbers, because `torch.tensor` derives the dtype from the
# value: `torch.tensor(3)` is int64, `torch.tensor(3.0)` is float32. And float32 has only 24 bits
# for the digits. Whole numbers are exact up to 2<sup>24</sup> = 16,777,216 and have gaps above.
# Training on text passes this in seconds if you count tokens. float64 is exact up to
# 2<sup>53</sup>, about 9 · 10<sup>15</sup>.
#
# ### Exercise 1.5: a sum over all ranks


# %% exercise="1.5" title="Sum over ranks"
def sum_over_ranks(value: float, device: torch.device | str = "cpu") -> float:
    """Add up one number from each rank.

    Needs an initialised process group; every rank calls this function.

    Args:
        value: This rank's number, an int or a float. Some ranks may pass ints and others floats.
        device: Where the group's tensors must live: the CPU for Gloo, this rank's GPU for NCCL.

    Returns:
        The sum over all ranks as a Python float, the same on every rank, in float64 precision:
        sums of whole numbers up to 2**53 are exact.
    """
    # BEGIN SOLUTION
    total = torch.tensor(value, dtype=torch.float64, device=device)
    dist.all_reduce(total)
    return total.item()
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Three steps: put the number into a tensor, all-reduce it, take the number out again
# (`.item()`).
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Say the dtype yourself. Then all ranks send the same, whatever the type of their value, and the
# sum keeps its digits.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The tensor is `torch.tensor(value, dtype=torch.float64, device=device)`. `dist.all_reduce`
# returns None: the sum is in the tensor that you gave it.
#
# </details>
#
# Now the three ranks from the beginning can finish their work:


# %%
def demo_total():
    numbers = [10, 20, 30, 40, 50, 60]
    mine = numbers[dist.get_rank() :: dist.get_world_size()]
    total = sum_over_ranks(sum(mine), device=device())
    print(f"my numbers are {mine}, the sum of all is {total}")


if __name__ == "__main__":
    show(demo_total, ranks=3)

# %% [markdown]
# ```output
# rank 0 | my numbers are [10, 40], the sum of all is 210.0
# rank 1 | my numbers are [20, 50], the sum of all is 210.0
# rank 2 | my numbers are [30, 60], the sum of all is 210.0
# ```

# %% [markdown]
# From here to data parallel training it is not far. Replace the six numbers by a batch, the
# partial sum by a gradient, and add a division by the world size.
#
# ### In practice: a loss of 4,612,811,918,334,230,528
#
# **What you see.** A metric is fine for weeks and one day it is huge on one rank. Or Gloo ends
# the process:
#
# ```text
# terminate called after throwing an instance of 'gloo::EnforceNotMet'
#   what():  [...] op.preamble.length <= op.nbytes. 8 vs 4. Received data size doesn't match
#   expected size. Is there a distributed collective mismatch in your code?
# ```
#
# **Why.** `total = 0`, then `total += loss.item()` for each batch, then
# `dist.all_reduce(torch.tensor(total))`. That day one rank had no batch. Its total is still the
# int 0, so it sends an int64 while the others send float32: 8 bytes meet 4 bytes. If the others
# send float64, the sizes agree, and the bits of a float are read as an int: on rank 0, 0 + 2.5
# became 4612811918334230528, without an error.
#
# **What to do.** Always pass `dtype=`. Start sums of floats with `0.0`. And when a collective
# goes wrong, run once more with `TORCH_DISTRIBUTED_DEBUG=DETAIL` in the environment. Then the
# ranks compare notes before each collective, and you get (shortened):
#
# ```text
# RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective:
# CollectiveFingerPrint(SequenceNumber=0, OpType=ALLREDUCE, TensorShape=[], TensorDtypes=Long, ...),
# but Rank 1 is running collective: CollectiveFingerPrint(..., TensorDtypes=Float, ...)
# ```
#
# ### In practice: an average that is cut off
#
# **What you see.** The average over ranks is too small, often 0. Or: `RuntimeError: result type
# Float can't be cast to the desired output type Long`.
#
# **Why.** The tensor is of integers. `total //= world_size` cuts off the fraction,
# `total /= world_size` has nowhere to put it.
#
# **What to do.** Turn into float64 first, divide afterwards.

# %% [markdown]
# ## Check questions
#
# <!-- questions -->

# %% [markdown]
# ## Recap
#
# - Data parallel training runs one program in many processes. They share no memory. Each is told
#   its rank.
# - rank: my number among all. local rank: my number on this machine. world size: how many there
#   are. Read them from the environment, as ints.
# - The local rank chooses the device. The device chooses the backend: CUDA goes with NCCL, CPU
#   with Gloo.
# - A collective is a call that all ranks make, in the same order. If one stays away, the others
#   wait in silence. Think of exceptions, too.
# - `all_reduce` sums in place and gives the result to all. Device, shape and dtype must fit on
#   every rank.
#
# **Read on:** [torch.distributed](https://docs.pytorch.org/docs/stable/distributed.html),
# [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html),
# [torch.accelerator](https://docs.pytorch.org/docs/stable/accelerator.html),
# [torch.cuda.set_device](https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_device.html).
#
# In lesson 02 you make the process group yourself.
