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
#     lesson: "02"
#     title: Making the process group
#     promise: >-
#       After this lesson you can bring processes together into a group, by environment, by
#       address or by file, choose a port that nobody else has, leave the group cleanly, and get
#       a clear error instead of silence when one process does not come.
#     minutes: {reading: 30, exercises: 60}
#     needs: ["01"]
# ---

# %% [markdown]
# # Lesson 02: Making the process group
#
# **After this lesson you can** bring processes together into a group, by environment, by address
# or by file, choose a port that nobody else has, leave the group cleanly, and get a clear error
# instead of silence when one process does not come.
#
# **Time:** 30 minutes to read, 60 minutes for six exercises. **You need:** lesson 01 (rank, world
# size, what a collective is).
#
# The exercises are in `lessons/02/init_methods.py`. `pytest lessons/02` checks them,
# `python lessons/02/init_methods.py` runs the examples with your code in them.

# %%
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import torch.distributed as dist

from ddp_grader import show

# %% [markdown]
# ## How do strangers meet?
#
# In lesson 01 the process group was already there. Now you make it. The call is
# [`dist.init_process_group`](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group),
# and every process of the job makes it once.
#
# Think about what this call has to do. At the start, a process knows nobody. The others may run
# on machines that it has never heard of. To send them gradients, it needs the network address of
# each. It cannot ask them, because for that it would need their addresses.
#
# So all processes agree on **one** place in advance. Each goes there, writes down its own
# address, and reads the addresses of the others. Meeting like this is called **rendezvous**.
#
# Three facts are enough for it, and you will see them in every way to make a group:
#
# | question | the answer | same on all ranks? |
# |---|---|---|
# | Who am I? | the rank | no |
# | How many are we? | the world size | yes |
# | Where do we meet? | an address (host and port), or a file | yes |

# %% [markdown]
# ## The store: where ranks leave notes
#
# The meeting place is a **store**: a small dictionary that all ranks can read and write. Keys are
# strings, values are bytes. There are two kinds that you need to know:
#
# - [`TCPStore`](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.TCPStore):
#   one process, usually rank 0, keeps the dictionary and listens on a port. The others connect to
#   it. This is the usual one.
# - [`FileStore`](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.FileStore):
#   the dictionary is a file that all ranks can open.
#
# Both have the same methods:
#
# | call | what it does |
# |---|---|
# | `store.set(key, value)` | writes a note (a str or bytes) |
# | `store.get(key)` | **waits** until there is such a note, and returns it as bytes |
# | `store.add(key, n)` | adds n to a counter that starts at 0; returns the new count |
# | `store.wait(keys, timeout)` | waits until all these notes are there, or raises |
# | `store.check(keys)` | True if all these notes are there; does not wait |
#
# Two ranks may call `add` on the same counter at the same time: no count gets lost.
#
# Here are three ranks and a TCPStore, still without a process group. `MASTER_ADDR` and
# `MASTER_PORT` are the agreed place; you will meet them properly in a moment.


# %%
def demo_store():
    rank = int(os.environ["RANK"])
    store = dist.TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        world_size=3,
        is_master=rank == 0,  # this rank keeps the dictionary
    )
    store.set(f"greeting of rank {rank}", f"hello, I am {rank}")
    neighbour = (rank + 1) % 3
    print(f"rank {neighbour} wrote: {store.get(f'greeting of rank {neighbour}')}")
    store.add("done", 1)
    while rank == 0 and store.add("done", 0) < 3:  # adding 0 reads the counter
        time.sleep(0.01)


if __name__ == "__main__":
    show(demo_store, ranks=3, group=False)

# %% [markdown]
# ```output
# rank 0 | rank 1 wrote: b'hello, I am 1'
# rank 1 | rank 2 wrote: b'hello, I am 2'
# rank 2 | rank 0 wrote: b'hello, I am 0'
# ```

# %% [markdown]
# `get` waited: no rank had to know which of them came first. And rank 0 stayed until all were
# done. The dictionary is in its process; if rank 0 leaves, the next question of another rank ends
# in `DistNetworkError: Failed to recv, got 0 bytes. Connection was likely closed.`
#
# This is all that a rendezvous needs. `init_process_group` uses a store in just this way:
#
# ```mermaid
# sequenceDiagram
#     participant R0 as rank 0
#     participant S as the store
#     participant R1 as rank 1
#     R0->>S: open it
#     R0->>S: set: rank 0 listens on 10.0.0.1, port 39805
#     R0->>S: get: where is rank 1? (waits)
#     R1->>S: connect
#     R1->>S: set: rank 1 listens on 10.0.0.2, port 38015
#     S-->>R0: 10.0.0.2, port 38015
#     R1->>S: get: where is rank 0?
#     S-->>R1: 10.0.0.1, port 39805
#     R0->>R1: direct connection for data
# ```
#
# Two things are worth remembering:
#
# - **The data does not go through the store.** Gradients travel on direct connections, from rank
#   to rank. The store carries a few hundred bytes of notes.
# - Gloo makes these connections inside `init_process_group`. NCCL makes them later, in the first
#   collective. So with NCCL a network problem may show only when training begins.

# %% [markdown]
# ## env://: the answers are in the environment
#
# The usual way is to put the three answers into four environment variables:
#
# | variable | example | what it says |
# |---|---|---|
# | `RANK` | `3` | who am I |
# | `WORLD_SIZE` | `4` | how many are we |
# | `MASTER_ADDR` | `10.0.0.1` | the machine where rank 0 runs: there is the store |
# | `MASTER_PORT` | `29500` | the port that it listens on |
#
# Then the call needs no more than the backend:
#
# ```python
# dist.init_process_group("gloo")       # the same as init_method="env://"
# ```
#
# [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html) sets all four. That is why
# this one line is enough in most scripts. (Under torchrun it is torchrun's own process that keeps
# the store, not rank 0. So the store survives when rank 0 crashes.)
#
# One more argument belongs in every script:
#
# ```python
# dist.init_process_group("gloo", timeout=timedelta(minutes=2))
# ```
#
# **`timeout`** is the longest time that a rank waits for another: here, and later in each
# collective. The default is 30 minutes, for NCCL 10. A process that waits for a colleague who
# crashed at the start will be silent for that long. The argument is a
# [`timedelta`](https://docs.python.org/3/library/datetime.html#datetime.timedelta); a plain
# number raises `TypeError: Expected timeout argument to be of type datetime.timedelta`.
#
# How short may it be? Longer than the longest honest wait: the slowest machine's start, and later
# the longest thing that one rank does alone, like saving a checkpoint.
#
# ### Exercise 2.1: join by environment
#
# If a variable is missing, PyTorch names the first one that it misses. You fix it, start again,
# and learn of the next. Yours names all of them at once.


# %% exercise="2.1" title="Join by environment"
def init_from_env(backend: str, timeout_s: float) -> None:
    """Make the default process group from RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.

    Every rank calls this once. It reads the environment and changes nothing in it.

    Args:
        backend: "gloo" or "nccl".
        timeout_s: Longest wait for another rank, now and in later collectives. Seconds, an int
            or a float.

    Raises:
        ValueError: If one of the four variables is not set, or is empty. The message names every
            such variable, and none of the others. Nobody is waited for.
        Exception: If a rank does not come: PyTorch's own error is fine. PyTorch is not exact with
            short timeouts; it may come a few seconds late.
    """
    # BEGIN SOLUTION
    names = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"]
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise ValueError(f"not set: {', '.join(missing)}. Start this script with torchrun.")
    dist.init_process_group(backend, timeout=timedelta(seconds=timeout_s))
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# First collect the names that are missing: a list comprehension over the four names.
# `os.environ.get(name)` is None if the variable is not set, and `""` if it is empty. Both count
# as false.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `timedelta(seconds=timeout_s)`. Without the keyword, `timedelta(5)` means 5 *days*.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# names = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"]
# missing = [name for name in names if not os.environ.get(name)]
# if missing:
#     raise ValueError(f"not set: {', '.join(missing)}")
# dist.init_process_group(...)   # the backend, and the timeout
# ```
#
# </details>


# %%
def demo_env():
    init_from_env("gloo", timeout_s=30)
    print(f"I am rank {dist.get_rank()} of {dist.get_world_size()}")


def demo_env_missing():
    del os.environ["MASTER_ADDR"], os.environ["WORLD_SIZE"]
    try:
        init_from_env("gloo", timeout_s=30)
    except ValueError as error:
        print(error)


if __name__ == "__main__":
    show(demo_env, ranks=3, group=False)
    show(demo_env_missing, ranks=1, group=False)

# %% [markdown]
# ```output
# rank 0 | I am rank 0 of 3
# rank 1 | I am rank 1 of 3
# rank 2 | I am rank 2 of 3
# rank 0 | not set: WORLD_SIZE, MASTER_ADDR. Start this script with torchrun.
# ```

# %% [markdown]
# ### In practice: a script that needs a launcher
#
# **What you see.** `python train.py` on your laptop:
#
# ```text
# ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable
# RANK expected, but not set
# ```
#
# **Why.** Without torchrun nobody has set the variables. Templates that pass `rank=` and
# `world_size=` get past the first two and fail at `MASTER_ADDR` instead.
#
# **What to do.** Start it with `torchrun --standalone --nproc-per-node=1 train.py`. Do not write
# `os.environ.setdefault("WORLD_SIZE", "1")` into the script: on a cluster where the launcher was
# forgotten, eight processes then train eight separate models, and nothing tells you.
#
# ### In practice: every machine waits for itself
#
# **What you see.** One machine works. With two, both are silent until the timeout. Here with one
# process on each and a timeout of 60 seconds:
#
# ```text
# node 0 DistStoreError: Timed out after 61 seconds waiting for clients. 1/2 clients joined.
# node 1 DistNetworkError: The client socket has timed out after 60000ms while trying to connect to
#        (localhost, 23988).
# ```
#
# **Why.** `MASTER_ADDR=localhost` is in the script, as in most tutorials. On node 1, `localhost`
# is node 1. No store listens there.
#
# **What to do.** `MASTER_ADDR` is the address of rank 0's machine, *as the other machines see
# it*. Take it from the environment or the launcher, never from the code. (The message above
# helps: it says which address was tried. Is it the one that you meant?)

# %% [markdown]
# ## tcp://: the answers are arguments
#
# Sometimes rank and address come from somewhere else: command line arguments, Slurm, a
# configuration file. Then pass them:
#
# ```python
# dist.init_process_group(
#     "gloo", init_method="tcp://10.0.0.1:29500", rank=3, world_size=4, timeout=...
# )
# ```
#
# You may read that one of the two ways is 'more stable'. They are the same way: both make a
# TCPStore at this address, with the same code. (And a script that sets
# `os.environ["MASTER_ADDR"]` itself and then passes `rank` and `world_size` uses env://, whatever
# its author calls it.) You will see in a moment that ranks can even mix them.
#
# ### Exercise 2.2: join by address
#
# One mistake deserves a check of its own. Ranks are 0, 1, ..., world_size - 1. If you count from
# 1 instead, there is no rank 0. So nobody opens the store, and all ranks wait for it.


# %% exercise="2.2" title="Join by address"
def init_from_tcp(host: str, port: int, rank: int, world_size: int, backend: str, timeout_s: float) -> None:
    """Make the default process group; rank 0 opens the store at host:port.

    Every rank calls this once, in any order. All that it needs is in the arguments: it neither
    reads nor changes the environment, which may hold other values or none.

    Args:
        host: Name or IPv4 address of rank 0's machine.
        port: A free port on that machine.
        rank: This process's number, from 0 to world_size - 1.
        world_size: The number of processes.
        backend: "gloo" or "nccl".
        timeout_s: Longest wait for another rank, in seconds, as in init_from_env.

    Raises:
        ValueError: If rank is not in 0 .. world_size - 1; at once, nobody is waited for.
        Exception: If a rank does not come: PyTorch's own error is fine.
    """
    # BEGIN SOLUTION
    if not 0 <= rank < world_size:
        raise ValueError(f"rank is {rank}, but must be from 0 to {world_size - 1}")
    dist.init_process_group(
        backend,
        init_method=f"tcp://{host}:{port}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=timeout_s),
    )
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Look at the range first: `if not 0 <= rank < world_size:`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The address is the string `f"tcp://{host}:{port}"`, and its parameter is `init_method`. Do not
# go through `os.environ`: other code in the same process may rely on what stands there.
#
# </details>
#
# Here rank 1 joins by address and the others by environment. They end up in the same group,
# because they meet in the same store:


# %%
def demo_mixed():
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if rank == 1:
        host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        init_from_tcp(host, port, rank, world_size, "gloo", timeout_s=30)
    else:
        init_from_env("gloo", timeout_s=30)
    x = torch.tensor([1.0])
    dist.all_reduce(x)
    print(f"{x.item():.0f} ranks are in my group")


if __name__ == "__main__":
    show(demo_mixed, ranks=3, group=False)

# %% [markdown]
# ```output
# rank 0 | 3 ranks are in my group
# rank 1 | 3 ranks are in my group
# rank 2 | 3 ranks are in my group
# ```

# %% [markdown]
# ### In practice: tcp:// hangs, but only under torchrun
#
# **What you see.** `init_method="tcp://localhost:35980"` works when you start the ranks by hand.
# Under torchrun it is silent until the timeout.
#
# **Why.** torchrun keeps a store of its own and tells PyTorch so. PyTorch up to 2.13 believed it
# for *every* address: no rank opened a store at port 35980, all of them only tried to connect
# ([pytorch#192113](https://github.com/pytorch/pytorch/pull/192113) tells the story and mends it).
#
# **What to do.** Under torchrun, use env://. torchrun has chosen the address already.
#
# ### In practice: one open port is not enough
#
# **What you see.** Two machines, and a firewall between them. You open port 29500. The ranks find
# the store, and then `init_process_group` (Gloo) or the first collective (NCCL) fails or stands
# still. Gloo says
#
# ```text
# RuntimeError: Gloo connectFullMesh failed with [...] Connect timeout
# ```
#
# (This took 10 seconds with a timeout of 2: Gloo tries five times.)
#
# **Why.** The port is that of the *store*. Each rank also listens on a port of its own for the
# direct connections, and the operating system picks it. In a group of three Gloo ranks with
# `MASTER_PORT=22416`, rank 0 was listening on 22416 and 39805, rank 1 on 38015, rank 2 on 33899.
#
# **What to do.** Allow all TCP connections among the machines of the job. Another port number
# for the store does not help. To find out whether a port can be reached, run `nc -l 29500` on one
# machine and `nc -vz 10.0.0.1 29500` on the other.
#
# ### In practice: the wrong network card
#
# **What you see.** Two machines, no firewall, and again
#
# ```text
# RuntimeError: Gloo connectFullMesh failed with [...] timed out connecting:
# SO_ERROR: Connection refused, remote=[127.0.0.1]:14256
# ```
#
# **Why.** Look at `remote`: a rank was told to find another one at `127.0.0.1`. To learn its own
# address, Gloo looks up its machine's name, and in many containers and Debian installations this
# name leads to `127.0.0.1` or `127.0.1.1`. That is what the rank wrote into the store
# ([an example](https://github.com/meta-pytorch/data/issues/1142)).
#
# **What to do.** Name the network card: `GLOO_SOCKET_IFNAME=eth0`, for NCCL
# `NCCL_SOCKET_IFNAME=eth0` (`ip addr` lists them). Both are among PyTorch's [common environment
# variables](https://docs.pytorch.org/docs/stable/distributed.html#common-environment-variables).

# %% [markdown]
# ## file://: meeting in a file
#
# If all ranks see the same disk, they can meet in a file. No port is needed, so no port can be
# taken or blocked. (The direct connections still need the network.) This is handy for tests on
# one machine and for clusters with a shared file system. The file system must support locks.
#
# ```python
# dist.init_process_group("gloo", init_method="file:///shared/job-4711", rank=0, world_size=2)
# ```
#
# Three slashes: the path must be absolute. The first rank that comes makes the file, and the last
# one that leaves by `destroy_process_group` deletes it.
#
# But what if the job was killed, and nobody deleted it? Then the next run finds a store full of
# addresses of dead processes. Here is what that looked like in four tries with three ranks and a
# timeout of 3 seconds:
#
# - once all ranks were silent for 15 seconds and then failed with `Gloo connectFullMesh failed
#   with [...] Connect timeout`;
# - twice rank 0 failed at once with `Connection refused`, while ranks 1 and 2 *returned* from
#   `init_process_group` and failed in their first collective;
# - once, with fewer ranks than before, everything seemed to work.
#
# The file's age does not help: a job that crashed is often started again within seconds. Whether
# the file exists does not help either: perhaps another rank of *this* run has just made it. What
# can a rank look at?
#
# It can leave a note that only a rank with its own number leaves. If that note is there already,
# somebody with this number was here before.
#
# ```mermaid
# flowchart TB
#     A["rank 1 opens the file"] --> B["store.add('rank 1 was here', 1)"]
#     B -->|returns 1| C["I am the first rank 1: go on"]
#     B -->|returns 2| D["a rank 1 was here before me: refuse"]
# ```
#
# ### Exercise 2.3: join by file
#
# Instead of an `init_method`, `init_process_group` also takes a store that you have made:
#
# ```python
# store = dist.FileStore("/shared/job-4711", world_size)
# dist.init_process_group("gloo", store=store, rank=rank, world_size=world_size, timeout=...)
# ```
#
# So you can look into the store first.


# %% exercise="2.3" title="Join by file"
def init_from_file(path: str | os.PathLike, rank: int, world_size: int, backend: str, timeout_s: float) -> None:
    """Make the default process group; the ranks meet in the file at path.

    Every rank calls this once, in any order, and on the same file system. It does not read the
    environment. The file need not exist; its folder must.

    A file that an earlier run of this function has left (all of its ranks had come, and all of
    its processes are dead) must not mislead this run. Two ways are right. Either refuse it:
    rank 0 raises FileExistsError, whose message has the path, and every other rank raises an
    exception, too. Or make a new start: the group comes about on all ranks.

    Args:
        path: Absolute, or relative to the current directory at the time of the call.
        rank: This process's number, from 0 to world_size - 1.
        world_size: The number of processes.
        backend: "gloo" or "nccl".
        timeout_s: Longest wait for another rank, in seconds, as in init_from_env.

    Raises:
        FileExistsError: See above.
        FileNotFoundError: If path's folder does not exist; at once, nobody is waited for.
        Exception: If a rank does not come: PyTorch's own error is fine.
    """
    # BEGIN SOLUTION
    path, timeout = Path(path).absolute(), timedelta(seconds=timeout_s)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}")
    store = dist.FileStore(str(path), world_size)
    store.set_timeout(timeout)
    if store.add(f"rank {rank} was here", 1) > 1:
        raise FileExistsError(f"{path} is from an earlier run (or there are two ranks {rank})")
    dist.init_process_group(backend, store=store, rank=rank, world_size=world_size, timeout=timeout)
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Four steps: look for the folder; make the FileStore; find out whether a rank with your number
# was here before; pass the store to `init_process_group`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `dist.FileStore` takes the path as a str and keeps it as it is. `Path(path).absolute()` turns
# all kinds of paths into an absolute one. `path.parent.is_dir()` tells whether the folder exists.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `store.add(f"rank {rank} was here", 1)` returns 1 to the first rank with this number, and 2 or
# more to a later one. The store waits 5 minutes by default: `store.set_timeout(timedelta(...))`.
#
# </details>
#
# In the example below, three ranks meet in a file and do *not* destroy their group, as after a
# crash. Then three new ranks come.


# %%
def demo_file(path):
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    try:
        init_from_file(path, rank, world_size, "gloo", timeout_s=30)
    except FileExistsError as error:
        print(f"refused: {type(error).__name__}")
    else:
        print(f"joined, {dist.get_world_size()} ranks are here")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        print("first run")
        show(demo_file, ranks=3, args=(f"{folder}/meet",), group=False)
        print("second run, same path")
        show(demo_file, ranks=3, args=(f"{folder}/meet",), group=False)

# %% [markdown]
# ```output
# first run
# rank 0 | joined, 3 ranks are here
# rank 1 | joined, 3 ranks are here
# rank 2 | joined, 3 ranks are here
# second run, same path
# rank 0 | refused: FileExistsError
# rank 1 | refused: FileExistsError
# rank 2 | refused: FileExistsError
# ```

# %% [markdown]
# ### In practice: the file of yesterday
#
# **What you see.** The job ran, was killed, and now does not start any more. Errors differ from
# try to try: `Connect timeout`, `Connection refused`, or more processes than there should be, as
# in [this report](https://github.com/epfml/powersgd/issues/21): `world_size=2, worker_count=4`.
# Its log begins with the cause: `File already exists: output.tmp/dist_init`.
#
# **Why.** The file is still there. PyTorch's page
# [says so](https://docs.pytorch.org/docs/stable/distributed.html#shared-file-system-initialization):
# deleting it is up to you.
#
# **What to do.** A fresh name for each run, chosen by whoever starts the ranks: with the job's
# number in it, such as `/shared/meet-$SLURM_JOB_ID`, or in a new `tempfile.mkdtemp()`.
#
# ### In practice: five minutes for a typing error
#
# **What you see.** `init_method="file:///shraed/meet"`, with `timeout=timedelta(seconds=1)`.
# After 301 seconds: `DistStoreError: No such file or directory`.
#
# **Why.** A FileStore tries to open its file for 5 minutes. It gets your timeout only after that
# ([pytorch#48475](https://github.com/pytorch/pytorch/issues/48475) calls it intended: on some file
# systems, a file may come a little late).
#
# **What to do.** Look for the folder yourself, first. You just did.

# %% [markdown]
# ## Which port?
#
# A port is a number from 1 to 65535, and one process at a time can listen on it. Tutorials write
# `MASTER_PORT=29500` or `12355`. This works until somebody else on the machine has read the same
# tutorial.
#
# How do you get a port that is free? Ask the operating system: bind to port 0, and it picks one
# that is not in use.
#
# ```python
# with socket.socket() as s:
#     s.bind(("", 0))             # "" means: on all network cards
#     port = s.getsockname()[1]   # what did I get?
# ```
#
# After the `with` block the port is closed again and free for your store. (In between, another
# process could take it. This is rare, because the system does not hand out the same number again
# soon. The only safe way is to let the store itself bind to 0: `dist.TCPStore(host, 0,
# is_master=True, wait_for_workers=False).port`.)
#
# And now the mistake that this code invites. Many scripts call such a function at the top, on
# *every* rank:
#
# ```mermaid
# flowchart LR
#     R0["rank 0: find_free_port()"] --> P0["41234: opens the store here"]
#     R1["rank 1: find_free_port()"] --> P1["38771: looks for the store here"]
#     R2["rank 2: find_free_port()"] --> P2["45990: looks for the store here"]
# ```
#
# Every rank has a free port, each another one. They never meet. **One picks, all learn it.** Who
# that is depends on how you start:
#
# | started by | who picks the port | how the others learn it |
# |---|---|---|
# | `torchrun --standalone` (one machine) | torchrun, a random free one | in `MASTER_PORT` |
# | torchrun without it | nobody: 29500 unless you say otherwise | in `MASTER_PORT` |
# | `mp.spawn` (lesson 05) | the parent, *before* it starts the ranks | as an argument |
# | several machines | the job script, for example from the job's number | command line |
# | ranks that have a store already | rank 0 | through that store |
#
# The last row may look odd. Why another port, if there is a store? Perhaps it is a FileStore, and
# you want to meet by TCP from now on. Or your program needs a second server, for live metrics or
# for a data service.
#
# ### Exercise 2.4: one picks, all learn


# %% exercise="2.4" title="A port for all"
def find_free_port() -> int:
    """Ask the operating system for a TCP port that is free now.

    Returns:
        The port as an int. Nothing listens on it when the function returns: the caller can open
        a TCPStore there at once. Calls in several processes at the same moment return different
        ports, as good as always.
    """
    # BEGIN SOLUTION
    with socket.socket() as s:
        s.bind(("", 0))
        return s.getsockname()[1]
    # END SOLUTION


def share_free_port(store: dist.Store, rank: int) -> int:
    """Pick a port that is free on rank 0's machine, and return it on every rank.

    Every rank calls this with the same store. It needs no process group. Ranks may call it again
    on the same store (each equally often): the calls then share one new port each.

    Args:
        store: A store that all ranks have opened, for example a FileStore.
        rank: This process's number. There is always a rank 0, which may come last.

    Returns:
        The port, an int, the same on every rank.
    """
    # BEGIN SOLUTION
    # How often did this rank call before? All ranks count alike, so they agree on the key.
    call = store.add(f"share_free_port, calls of rank {rank}", 1)
    key = f"share_free_port, call {call}"
    if rank == 0:
        store.set(key, str(find_free_port()))
    return int(store.get(key))
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Rank 0 writes a note into the store, the others read it. `store.get` waits until it is there, so
# you need no waiting of your own.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Values are bytes. Write `str(port)`; `int(store.get(key))` understands bytes of digits.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The second call must not find the first call's note. So each call needs a key of its own, and
# all ranks must come to the same one. Let each rank count its own calls:
# `call = store.add(f"calls of rank {rank}", 1)`, and use the number in the key.
#
# </details>
#
# Now three ranks meet in a file, share a port, and make their group at that port:


# %%
def demo_share_port(path):
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    store = dist.FileStore(path, world_size)
    port = share_free_port(store, rank)
    init_from_tcp("127.0.0.1", port, rank, world_size, "gloo", timeout_s=30)
    ports = [None] * world_size
    dist.all_gather_object(ports, port)
    print(f"{len(ports)} ranks, {len(set(ports))} port")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        show(demo_share_port, ranks=3, args=(f"{folder}/notes",), group=False)

# %% [markdown]
# ```output
# rank 0 | 3 ranks, 1 port
# rank 1 | 3 ranks, 1 port
# rank 2 | 3 ranks, 1 port
# ```

# %% [markdown]
# ### In practice: address already in use
#
# **What you see.** You start a second job on the machine, on other GPUs, and it fails at once:
#
# ```text
# torch.distributed.DistNetworkError: The server socket has failed to listen on any local network
# address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use
# ```
#
# **Why.** Both jobs want port 29500, torchrun's default
# ([pytorch#126510](https://github.com/pytorch/pytorch/issues/126510)). Or a process of an earlier
# job is still alive and holds it.
#
# **What to do.** `torchrun --standalone` on one machine. On several,
# `--rdzv-backend=c10d --rdzv-endpoint=node0:29507` with a number for each job. To see who has the
# port: `ss -ltnp | grep 29500`.
#
# ### In practice: a free port for everyone
#
# **What you see.** Silence until the timeout. Then rank 0 counts only itself, and each of the
# others names another port. With three ranks and a timeout of 1 second:
#
# ```text
# rank 0 DistStoreError: Timed out after 2 seconds waiting for clients. 1/3 clients joined.
# rank 1 DistNetworkError: The client socket has timed out after 1000ms while trying to connect to
#        (127.0.0.1, 44673).
# rank 2 DistNetworkError: The client socket has timed out after 1000ms while trying to connect to
#        (127.0.0.1, 39235).
# ```
#
# **Why.** `find_free_port()` runs on each rank.
#
# **What to do.** Call it once, in the process that starts the others.

# %% [markdown]
# ## Leaving: destroy_process_group
#
# A group owns things: connections, threads, memory on the GPU, with FileStore a file. Give them
# back with
# [`dist.destroy_process_group()`](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.destroy_process_group),
# on every rank, when the last collective is done. It is a good habit at the end of a script, and a
# must where the process goes on: in notebooks, in tests, and wherever a second group shall follow.
#
# It should also happen when training raises an exception. You know the pattern from files: a
# `with` block. So the next exercise is a context manager.
#
# ```python
# with process_group(init_from_env, "gloo", timeout_s=120):
#     train()
# ```
#
# ### Exercise 2.5: a group in a with block


# %% exercise="2.5" title="A group in a with block"
@contextmanager
def process_group(init: Callable[..., None], *args, **kwargs) -> Iterator[None]:
    """Context manager: make the default process group on entering, destroy it on leaving.

    Entering calls init(*args, **kwargs) once, which makes the group: init_from_env,
    dist.init_process_group, or any other function. Leaving destroys the group, also when the body
    raises. What `with ... as x` gives is up to you.

    - Whatever the body raises comes out unchanged. This includes KeyboardInterrupt and
      SystemExit.
    - If init raises, that exception comes out, and nothing is destroyed: not even a group that
      was there before.
    - If the body has destroyed the group itself, leaving does nothing.
    - Leaving waits for no other rank: one may have raised while the others go on.
    """
    # BEGIN SOLUTION
    init(*args, **kwargs)
    try:
        yield
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `@contextmanager` turns a function with one `yield` into a context manager. What stands before
# the `yield` runs on entering. The body runs at the `yield`, and its exception is raised there.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `finally` runs in any case: after success, after every exception, after `sys.exit()`. An
# `except Exception` misses Ctrl-C, which is a `KeyboardInterrupt`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# init(*args, **kwargs)       # outside of try: if this raises, there is nothing to destroy
# try:
#     yield
# finally:
#     ...                     # destroy the group, if dist.is_initialized()
# ```
#
# </details>


# %%
def demo_with_block():
    try:
        with process_group(init_from_env, "gloo", timeout_s=30):
            print(f"inside: {dist.get_world_size()} ranks")
            raise ValueError("loss is nan")
    except ValueError as error:
        print(f"outside: {error}; still in a group: {dist.is_initialized()}")


if __name__ == "__main__":
    show(demo_with_block, ranks=2, group=False)

# %% [markdown]
# ```output
# rank 0 | inside: 2 ranks
# rank 0 | outside: loss is nan; still in a group: False
# rank 1 | inside: 2 ranks
# rank 1 | outside: loss is nan; still in a group: False
# ```

# %% [markdown]
# ### In practice: twice
#
# **What you see.** In a notebook or a test, the second run says
#
# ```text
# ValueError: trying to initialize the default process group twice!
# ```
#
# **Why.** The first run raised before it came to `destroy_process_group`. A process has one
# *default* group at a time, and the old one is still there.
#
# **What to do.** A `with` block, or `try`/`finally`.
#
# ### In practice: a warning at the end
#
# **What you see.** Training is over, and NCCL complains
# ([an example](https://github.com/pytorch/examples/pull/1387)):
#
# ```text
# Warning: WARNING: destroy_process_group() was not called before program exit, which can leak
# resources.
# ```
#
# **Why.** What it says. Most of the time it is harmless: the system cleans up after a dead
# process. But a rank that just ends may also tear down connections that another rank still uses.
#
# **What to do.** Call `destroy_process_group()` on every rank. PyTorch's page on
# [shutdown](https://docs.pytorch.org/docs/stable/distributed.html#shutdown) tells more. With NCCL,
# all ranks should do so at about the same time.

# %% [markdown]
# ## One backend or two, and which device
#
# You know from lesson 01 that the device chooses the backend. Two details belong to the call that
# makes the group.
#
# **The backend string may name one backend for each kind of device:**
#
# | call | CPU tensors | CUDA tensors |
# |---|---|---|
# | `init_process_group("nccl")` | not possible | NCCL |
# | `init_process_group("gloo")` | Gloo | Gloo (slow: it copies them through the CPU) |
# | `init_process_group("cpu:gloo,cuda:nccl")` | Gloo | NCCL |
# | `init_process_group()` on a machine with GPUs | Gloo | NCCL |
#
# The third is handy in training on GPUs: gradients go by NCCL, and a few numbers that are on the
# CPU anyway, such as counts and file names, go by Gloo. `dist.get_backend_config()` shows what you
# got.
#
# **`device_id` ties the group to this rank's GPU:**
#
# ```python
# device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
# torch.cuda.set_device(device)
# dist.init_process_group("nccl", device_id=device)
# ```
#
# With it, NCCL connects at once, inside `init_process_group`, instead of in the first collective.
# So errors come early, at the place where you expect them. And NCCL's `barrier()` need not guess
# which GPU to use. Without it, it may [warn](https://github.com/deepspeedai/DeepSpeed/pull/7266):
# `using GPU 0 to perform barrier as devices used by this process are currently unknown`.
#
# `device_id` is for accelerators only. On the CPU leave it out: `device_id=torch.device("cpu")`
# raises `ValueError: init_process_group device_id parameter must be an accelerator with an index`.


# %%
def demo_backend_strings():
    init_from_env("gloo", timeout_s=30)
    print(f"get_backend: {dist.get_backend()}, for each device: {dist.get_backend_config()}")


if __name__ == "__main__":
    show(demo_backend_strings, ranks=1, group=False)

# %% [markdown]
# ```output
# rank 0 | get_backend: gloo, for each device: cpu:gloo,cuda:gloo
# ```

# %% [markdown]
# ## When somebody does not come
#
# Of three ranks, rank 2 never starts: its machine is down. The timeout is 1 second. PyTorch says:
#
# ```text
# rank 0, after 2.0 s: DistStoreError: Timed out after 2 seconds waiting for clients. 2/3 clients
#                      joined.
# rank 1, after 1.1 s: DistStoreError: wait timeout after 1000ms, keys: /default_pg/0//cpu//0/0
# ```
#
# Rank 0's message is good to have. It does not say *who* is missing. Rank 1's is a riddle. (The
# last number of the key is the rank whose address it waited for: 0. Rank 0 had come, but it was
# itself still waiting.) With 512 ranks on 64 machines you want one thing: the number of the rank
# that is missing. It leads you to the machine.
#
# You have all the tools. Before you make the group, let each rank leave a note in the store, and
# watch the notes of the others:
#
# ```mermaid
# flowchart TB
#     A["open the store"] -->|no answer| E["TimeoutError: no store<br/>at host:port, is rank 0 running?"]
#     A --> B["leave my note: rank 1 is here"]
#     B --> C{"are all notes there?"}
#     C -->|yes| D["init_process_group(store=store, ...)"]
#     C -->|not yet| C
#     C -->|time is up| F["TimeoutError: 2 of 3 ranks came<br/>to host:port, missing: [2]"]
# ```
#
# Some details about TCPStore:
#
# - On rank 0, the constructor itself waits for all clients, and then you cannot look at notes.
#   `wait_for_workers=False` turns that off.
# - On the other ranks, it tries to connect for `timeout`, and if that fails it tries once more. So
#   giving up took 1.9 s with a timeout of 1 s, and 5.4 s with 2 s. You may leave it at that.
# - Its errors are `dist.DistNetworkError` and `dist.DistStoreError`. Both are `RuntimeError`s.
#
# With NCCL these notes are worth even more. If you pass a store, `init_process_group("nccl")`
# waits for nobody.
#
# ### Exercise 2.6: an error that names the missing


# %% exercise="2.6" title="An error that names the missing"
def init_with_deadline(host: str, port: int, rank: int, world_size: int, backend: str, timeout_s: float) -> None:
    """Make the default process group as init_from_tcp does, and say who is missing if one is.

    Every rank calls this once. Ranks may come in any order, up to timeout_s after one another. The
    environment is neither read nor changed.

    Args:
        host: Name or IPv4 address of rank 0's machine.
        port: A free port on that machine.
        rank: This process's number, from 0 to world_size - 1.
        world_size: The number of processes.
        backend: "gloo" or "nccl".
        timeout_s: How long a rank waits for the others, in seconds. The error may come later, if
            PyTorch takes longer to give up, but within 4 * timeout_s + 2 seconds.

    Raises:
        TimeoutError: On every rank that came, if some rank did not. No group exists afterwards.
            The message has "host:port", for example "10.0.0.1:29500". If this rank has reached
            the store, the message also has how many ranks came, as "2 of 3", and the number of
            each missing rank. Two processes with the same rank count as one rank. If this rank
            has not reached the store, rank 0 is missing: the message says "rank 0".
    """
    # BEGIN SOLUTION
    place, deadline = f"{host}:{port}", time.monotonic() + timeout_s
    timeout = timedelta(seconds=timeout_s)
    try:
        store = dist.TCPStore(host, port, is_master=rank == 0, timeout=timeout, wait_for_workers=False)
    except RuntimeError as error:
        if rank == 0:
            raise  # it could not listen: not a matter of time
        raise TimeoutError(f"no store at {place} in {timeout_s} s: is rank 0 running?") from error
    keys = [f"rank {r} is here" for r in range(world_size)]
    store.set(keys[rank], "")
    while not store.check(keys):
        if time.monotonic() > deadline:
            missing = [r for r in range(world_size) if not store.check([keys[r]])]
            raise TimeoutError(
                f"rank {rank} waited {timeout_s} s at {place}: "
                f"{world_size - len(missing)} of {world_size} ranks came, missing: {missing}"
            )
        time.sleep(0.02)
    dist.init_process_group(backend, store=store, rank=rank, world_size=world_size, timeout=timeout)
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Three parts: open the store and turn its error into your `TimeoutError`; write your note and wait
# for the others'; make the group with `store=store`. Note the time at the start
# (`time.monotonic()`), to know when to give up.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A counter (`store.add("arrived", 1)`) tells how many came, but not who, and it takes two
# processes with the same rank for two ranks. One key for each rank tells all three.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# store = dist.TCPStore(host, port, is_master=rank == 0, timeout=..., wait_for_workers=False)
# keys = [f"rank {r} is here" for r in range(world_size)]
# store.set(keys[rank], "")
# while not store.check(keys):
#     if time.monotonic() > deadline:
#         missing = [r for r in range(world_size) if not store.check([keys[r]])]
#         raise TimeoutError(...)
#     time.sleep(0.02)
# ```
#
# The first line raises a `RuntimeError` on a rank that finds no store.
#
# </details>
#
# Four ranks are expected. Rank 2 does not come:


# %%
def demo_missing_peer():
    rank, port = int(os.environ["RANK"]), int(os.environ["MASTER_PORT"])
    if rank == 2:
        print("(I am not coming)")
        return
    try:
        init_with_deadline("127.0.0.1", port, rank, 4, "gloo", timeout_s=3)
    except TimeoutError as error:
        print(str(error).replace(str(port), "PORT"))
        time.sleep(0.5)  # the store is in rank 0: it must outlive the others' last look


if __name__ == "__main__":
    show(demo_missing_peer, ranks=4, group=False)

# %% [markdown]
# ```output
# rank 0 | rank 0 waited 3 s at 127.0.0.1:PORT: 3 of 4 ranks came, missing: [2]
# rank 1 | rank 1 waited 3 s at 127.0.0.1:PORT: 3 of 4 ranks came, missing: [2]
# rank 2 | (I am not coming)
# rank 3 | rank 3 waited 3 s at 127.0.0.1:PORT: 3 of 4 ranks came, missing: [2]
# ```

# %% [markdown]
# For a group that exists already, Gloo has a collective with the same idea:
# [`dist.monitored_barrier(timeout=...)`](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.monitored_barrier)
# names the ranks that did not reach it.
#
# ### In practice: when all you have is silence
#
# **What you see.** Nothing, and you want to know more before the timeout.
#
# **What to do.** In this order:
#
# 1. Count the processes on each machine (`pgrep -af train.py`). One that crashed at its imports
#    has told so in its own log, long before the silence began.
# 2. Print rank, world size and address on each rank, right before `init_process_group`. Is each
#    rank there exactly once? Is the address the same everywhere?
# 3. Try the port from the other machine: `nc -vz 10.0.0.1 29500`.
# 4. Start again with `TORCH_CPP_LOG_LEVEL=INFO` and `TORCH_DISTRIBUTED_DEBUG=DETAIL`. The store
#    then tells whom it connects to.

# %% [markdown]
# ## Check questions
#
# <!-- questions -->

# %% [markdown]
# ## Recap
#
# - To meet, each process must know its rank, the world size, and one place that all agree on.
# - That place is a store, a small dictionary. The ranks leave their addresses in it and then
#   connect directly. `get` and `wait` wait, `add` counts, `check` looks.
# - env:// and tcp:// are the same TCPStore. file:// needs a fresh file for each run.
# - One process picks the port, all learn it. Under torchrun, torchrun does.
# - Pass a `timeout` that fits your job. The default is half an hour of silence.
# - Destroy the group on every way out, also after an exception.
# - A good error says who is missing, and where they were expected.
#
# **Read on:** [initialization](https://docs.pytorch.org/docs/stable/distributed.html#initialization),
# [stores](https://docs.pytorch.org/docs/stable/distributed.html#distributed-key-value-store),
# [shutdown](https://docs.pytorch.org/docs/stable/distributed.html#shutdown),
# [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html).
#
# In lesson 03 each rank gets its own part of the data.
