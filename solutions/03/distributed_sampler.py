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
#     lesson: "03"
#     title: Giving each rank its part of the data
#     promise: >-
#       After this lesson you can give every rank its own part of a data set in training and in
#       evaluation, keep all random numbers either equal or different as they must be, and resume
#       in the middle of an epoch.
#     minutes: {reading: 30, exercises: 60}
#     needs: ["01"]
# ---

# %% [markdown]
# # Lesson 03: Giving each rank its part of the data
#
# **After this lesson you can** give every rank its own part of a data set in training and in
# evaluation, keep all random numbers either equal or different as they must be, and resume in the
# middle of an epoch.
#
# **Time:** 30 minutes to read, 60 minutes for seven exercises. **You need:** lesson 01 (rank,
# world size, what a collective is). That a process group can be made is enough; how was lesson 02.
#
# The exercises are in `lessons/03/distributed_sampler.py`. `pytest lessons/03` checks them,
# `python lessons/03/distributed_sampler.py` runs the examples with your code in them.

# %%
import itertools
import os
import random
from collections.abc import Iterator, Sized
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Sampler, get_worker_info, random_split

from ddp_grader import device, show

# %% [markdown]
# ## Nobody hands out the samples
#
# In data-parallel training every rank works on its own samples. The place where this is decided
# is small, and almost nothing that goes wrong there raises an error. A model trained on the wrong
# samples still trains. It is only worse than it could be, and you may never know.
#
# You might expect a rank 0 that hands out samples to the others. There is none. **Every rank has
# the whole data set** (on a disk that all can read, or as a copy on each machine), and **every
# rank computes by itself which indices are its own.** It knows its rank, the world size and the
# number of samples, and no message is sent.
#
# This works if the rule is the same everywhere. A good rule keeps four promises:
#
# 1. **Complete.** In each epoch, all ranks together see every sample.
# 2. **No waste.** No two ranks work on the same sample.
# 3. **Equal counts.** Every rank has the same number of samples. In each step, all ranks average
#    their gradients in a collective. A rank with one step more would wait there for ever.
# 4. **Shuffled anew** in each epoch, as you are used to.
#
# You will see that promise 2 cannot always be kept, and that promise 3 is wrong for evaluation.

# %% [markdown]
# ## Shuffle together, then deal
#
# Think of a deck of cards and four players. Shuffle the deck, then deal: the first card to player
# 0, the second to player 1, and so on, round and round.
#
# ```mermaid
# flowchart LR
#     D["data set<br/>0 1 2 3 4 5 6 7"] -- "shuffle: same seed on all ranks" --> S["order of this epoch<br/>4 0 7 3 2 5 1 6"]
#     S -- "1st, 5th" --> R0["rank 0: 4 2"]
#     S -- "2nd, 6th" --> R1["rank 1: 0 5"]
#     S -- "3rd, 7th" --> R2["rank 2: 7 1"]
#     S -- "4th, 8th" --> R3["rank 3: 3 6"]
# ```
#
# But there are four decks, one in each process! It works if all four are shuffled in exactly the
# same way. Random numbers in a computer follow from a **seed**. With the same seed, every rank
# computes the same permutation, and takes its cards out of it.


# %%
def demo_shuffle():
    own = torch.randperm(8).tolist()
    shared = torch.randperm(8, generator=torch.Generator().manual_seed(0)).tolist()
    print(f"this process's generator {own}   seed 0 {shared}")


if __name__ == "__main__":
    show(demo_shuffle, ranks=2)

# %% [markdown]
# ```output
# rank 0 | this process's generator [3, 1, 5, 6, 7, 4, 0, 2]   seed 0 [4, 0, 7, 3, 2, 5, 1, 6]
# rank 1 | this process's generator [5, 7, 1, 3, 6, 0, 4, 2]   seed 0 [4, 0, 7, 3, 2, 5, 1, 6]
# ```

# %% [markdown]
# [`torch.Generator`](https://docs.pytorch.org/docs/stable/generated/torch.Generator.html) is a
# source of random numbers of its own. It has two advantages over `torch.manual_seed(0)` followed
# by `torch.randperm(8)`: the result does not depend on what was drawn before, and what is drawn
# later (dropout, for example) does not depend on the shuffle.
#
# In Python, the dealing is a slice: `order[rank::world_size]` begins at `rank` and takes every
# `world_size`-th element.
#
# Why deal, and not cut the deck into four blocks? Look at the first cards of all four hands: 4,
# 0, 7, 3. These are the first four cards of the deck. After each round, all ranks together have
# used up exactly a beginning of the order, whatever the number of ranks. So one process with
# batches of 4 sees the same batches as four ranks with batches of 1. And when you resume in the
# middle of an epoch (the end of this lesson), a single number will say what is done.
#
# ### When it does not come out even
#
# Deal 10 cards to 4 players. Two players get 3 cards, two get 2. This breaks promise 3, equal
# counts. There are two ways out:
#
# - **Pad**: add cards until it comes out even. The added ones are copies from the *beginning* of
#   the order. Here 2 are added, and each rank has 3.
# - **Drop** the last cards that do not fill a round. Here 2 are left out, and each rank has 2.
#
# ```mermaid
# flowchart TB
#     O["order: 0 1 2 3 4 5 6 7 8 9"]
#     O --> P["pad: 0 1 2 3 | 4 5 6 7 | 8 9 <b>0 1</b>"]
#     O --> Q["drop: 0 1 2 3 | 4 5 6 7"]
#     P --> P3["rank 3: 3 7 <b>1</b>"]
#     Q --> Q3["rank 3: 3 7"]
# ```
#
# ### Exercise 3.1: the indices of one rank
#
# PyTorch has a class for all of this,
# [`DistributedSampler`](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler).
# Before you use it, write its heart yourself. It is a dozen lines.


# %% exercise="3.1" title="The indices of one rank"
def shard_indices(
    n: int,
    world_size: int,
    rank: int,
    *,
    shuffle: bool = True,
    seed: int = 0,
    epoch: int = 0,
    drop_last: bool = False,
) -> list[int]:
    """The indices that `rank` uses in an epoch, in order; those of torch's DistributedSampler.

    1. The order of the epoch: with shuffle, torch.randperm(n) drawn from a new torch.Generator
       (on the CPU) with the seed `seed + epoch`. Without: 0, 1, ..., n - 1.
    2. With drop_last, the last n % world_size of the order are left out. Without, the order is
       continued until its length can be divided by world_size: with its own elements, from its
       beginning, as often as needed (n may be smaller than world_size).
    3. Of this, every world_size-th, beginning with number `rank`.

    It needs no process group, and leaves torch's own random numbers as they are: torch.manual_seed
    is not called.

    Args:
        n: The number of samples, at least 1.
        world_size: The number of ranks.
        rank: From 0 to world_size - 1.

    Returns:
        A list of ints, equally long on all ranks. With drop_last and n < world_size it is empty.

    Raises:
        ValueError: If n is less than 1, or rank is not in 0 .. world_size - 1.
    """
    # BEGIN SOLUTION
    if n < 1:
        raise ValueError(f"n is {n}: there are no samples to share")
    if not 0 <= rank < world_size:
        raise ValueError(f"rank is {rank}, but must be from 0 to {world_size - 1}")
    order = list(range(n))
    if shuffle:
        order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
    if drop_last:
        order = order[: n - n % world_size]
    else:
        missing = -n % world_size
        order += list(itertools.islice(itertools.cycle(order), missing))
    return order[rank::world_size]
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Build the whole order first, the same on every rank. The rank may appear in the last line only.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The order must grow from `n` to the next multiple of `world_size`, which is
# `math.ceil(n / world_size) * world_size`. With 3 samples on 8 ranks, 5 are added to 3, so
# `order + order[:5]` is too short. Repeat the list often enough, then cut:
# `(order * times)[:total]`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
# per_rank = n // world_size if drop_last else math.ceil(n / world_size)
# total = per_rank * world_size
# order = (order * math.ceil(total / n))[:total]      # longer or shorter, as needed
# return order[rank::world_size]
# ```
#
# What is missing: the two checks, and `list(range(n))` without shuffle. (`import math` first.)
#
# </details>
#
# Ten samples on four ranks, not shuffled, so that you can see what goes where:


# %%
def demo_shards():
    rank, world_size = dist.get_rank(), dist.get_world_size()
    padded = shard_indices(10, world_size, rank, shuffle=False, drop_last=False)
    dropped = shard_indices(10, world_size, rank, shuffle=False, drop_last=True)
    theirs = DistributedSampler(range(10), shuffle=False)
    print(f"padded {padded}   dropped {dropped}   DistributedSampler {list(theirs)}")


if __name__ == "__main__":
    show(demo_shards, ranks=4)

# %% [markdown]
# ```output
# rank 0 | padded [0, 4, 8]   dropped [0, 4]   DistributedSampler [0, 4, 8]
# rank 1 | padded [1, 5, 9]   dropped [1, 5]   DistributedSampler [1, 5, 9]
# rank 2 | padded [2, 6, 0]   dropped [2, 6]   DistributedSampler [2, 6, 0]
# rank 3 | padded [3, 7, 1]   dropped [3, 7]   DistributedSampler [3, 7, 1]
# ```

# %% [markdown]
# ### In practice: every rank shuffles for itself
#
# **What you see.** Nothing. The loss goes down, the model is a little worse than expected.
#
# **Why.** The permutation came from a generator that is seeded differently on each rank, for
# example by `torch.manual_seed(seed + rank)` some lines above. Each rank takes its part of
# *another* order. With 100,000 samples, 4 ranks and the seeds 0 to 3, in one epoch 31,497 samples
# are seen by nobody, and 25,977 by two ranks or more.
#
# **What to do.** Draw the shuffle from a generator with a seed that is the same on all ranks. A
# seed that depends on the rank has its place, too: augmentation. You will come to it.
#
# ### In practice: the same indices, but other samples
#
# **What you see.** Nothing again. Or all ranks stop in the last step of the epoch, until the
# timeout.
#
# **Why.** Index 17 must mean the same sample everywhere. On two machines, `os.listdir` and `glob`
# may list the same folder in different orders: [their order is
# arbitrary](https://docs.python.org/3/library/os.html#os.listdir)
# ([pytorch#70103](https://github.com/pytorch/pytorch/issues/70103)). The same is true of iterating
# over a `set` of strings, even on one machine. So the shards overlap, although the indices do not.
# The hang comes from data sets of different *lengths*: one machine has found some files less, and
# its ranks make a step less.
#
# **What to do.** `sorted(os.listdir(folder))`. And let the ranks compare the number of samples
# once, at the start.

# %% [markdown]
# ## DistributedSampler and DataLoader
#
# A [`DataLoader`](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
# has two parts. A **sampler** says which indices come in which order. The rest fetches these
# samples and puts them into batches. With `shuffle=True` it makes itself a sampler that gives out
# *all* indices. Under DDP you pass another one instead:
#
# ```python
# sampler = DistributedSampler(dataset, shuffle=True, seed=0, drop_last=False)
# loader = DataLoader(dataset, batch_size=32, sampler=sampler)
# ```
#
# ```mermaid
# flowchart LR
#     G["process group:<br/>rank, world size"] -.-> S
#     S["DistributedSampler<br/>my indices"] -- "4 2 ..." --> B["DataLoader<br/>batch_size of them"]
#     D["data set<br/>all samples"] --> B
#     B --> T["training step<br/>of this rank"]
# ```
#
# `DistributedSampler` asks the process group for rank and world size. If there is none, pass
# `num_replicas=` and `rank=`. Otherwise:
#
# ```text
# ValueError: Default process group has not been initialized, please make sure to call init_process_group.
# ```
#
# The shuffling is now the sampler's task. If the loader shall do it as well:
#
# ```text
# ValueError: sampler option is mutually exclusive with shuffle
# ```
#
# ### How big is a batch?
#
# `batch_size` counts the samples of *one* rank. The gradient that you step with is the mean over
# all ranks. So the batch that training feels, the **global batch**, is
#
# ```text
# global batch = batch_size of the loader * world size
# ```
#
# It belongs to your recipe, like the learning rate. The number of ranks does not: it is how many
# GPUs were free today. So fix the global batch, and divide. With 50,000 samples:
#
# | | batch of the loader | global batch | steps in an epoch |
# |---|---|---|---|
# | 1 rank | 256 | 256 | 196 |
# | 8 ranks, divided | 32 | 256 | 196 |
# | 8 ranks, not divided | 256 | 2048 | 25 |
#
# The second row is the same training as the first, only faster (BatchNorm aside, which lesson 04
# treats). The third one is another training: an eighth of the steps, each with a gradient of 2048
# samples. It can be made to work with another learning rate (lesson 08), but it should be a
# decision, not an accident.
#
# ### Two times drop_last
#
# The name stands for two things:
#
# - `DistributedSampler(..., drop_last=True)`: drop up to `world_size - 1` samples so that no sample
#   is used twice (instead of padding).
# - `DataLoader(..., drop_last=True)`: drop the last batch if it is not full.
#
# Neither makes the ranks differ. The sampler gives each rank equally many indices, so all ranks
# have equally many batches, and their last batches are equally small.
#
# ### Exercise 3.2: a loader for a global batch


# %% exercise="3.2" title="A loader for a global batch"
def build_loader(
    dataset: Dataset,
    global_batch_size: int,
    *,
    shuffle: bool = True,
    seed: int = 0,
    drop_last: bool = False,
    **options: Any,
) -> DataLoader:
    """A loader of this rank's part of `dataset`, in batches of global_batch_size / world size.

    Called on every rank of the default process group, with equal arguments. The samples and their
    order are those of DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last).
    `loader.sampler.set_epoch(epoch)` selects the epoch; before that it is epoch 0.

    Args:
        dataset: Has a length, and a sample for each index.
        global_batch_size: Samples in a step of all ranks together.
        shuffle, seed: As for DistributedSampler.
        drop_last: False: samples are repeated so that the ranks have equally many, and the last
            batch may be smaller. True: no sample comes twice in an epoch, and every batch is full.
        **options: For the DataLoader, e.g. collate_fn or num_workers.

    Raises:
        ValueError: On every rank, if global_batch_size cannot be divided by the world size. The
            message contains both numbers.
    """
    # BEGIN SOLUTION
    world_size = dist.get_world_size()
    if global_batch_size % world_size:
        raise ValueError(f"a global batch of {global_batch_size} cannot be divided among {world_size} ranks")
    sampler = DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last)
    batch_size = global_batch_size // world_size
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler, drop_last=drop_last, **options)
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `dist.get_world_size()` is the number of ranks. `global_batch_size % world_size` must be 0; raise
# the `ValueError` otherwise, on all ranks. Rounding would quietly change the recipe.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `drop_last` goes to the sampler *and* to the loader: to the first so that nothing comes twice, to
# the second so that every batch is full. `shuffle` goes to the sampler only.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# sampler = DistributedSampler(dataset, shuffle=shuffle, seed=seed, drop_last=drop_last)
# return DataLoader(
#     dataset, batch_size=..., sampler=sampler, drop_last=drop_last, **options
# )
# ```
#
# </details>
#
# In this demonstration the data set is `range(20)`: sample i is the number i.


# %%
def demo_loader(drop_last):
    loader = build_loader(range(20), global_batch_size=6, shuffle=False, drop_last=drop_last)
    print("   ".join(f"step {step}: {batch.tolist()}" for step, batch in enumerate(loader)))


if __name__ == "__main__":
    print("drop_last=False")
    show(demo_loader, ranks=3, args=(False,))
    print("drop_last=True")
    show(demo_loader, ranks=3, args=(True,))

# %% [markdown]
# ```output
# drop_last=False
# rank 0 | step 0: [0, 3]   step 1: [6, 9]   step 2: [12, 15]   step 3: [18]
# rank 1 | step 0: [1, 4]   step 1: [7, 10]   step 2: [13, 16]   step 3: [19]
# rank 2 | step 0: [2, 5]   step 1: [8, 11]   step 2: [14, 17]   step 3: [0]
# drop_last=True
# rank 0 | step 0: [0, 3]   step 1: [6, 9]   step 2: [12, 15]
# rank 1 | step 0: [1, 4]   step 1: [7, 10]   step 2: [13, 16]
# rank 2 | step 0: [2, 5]   step 1: [8, 11]   step 2: [14, 17]
# ```

# %% [markdown]
# Read a column from top to bottom: in step 0, all ranks together have samples 0 to 5. That is the
# batch that one process would have. In the last step with `drop_last=False`, sample 0 comes a
# second time.
#
# ### In practice: eight GPUs, and not faster at all
#
# **What you see.** An epoch takes as many steps on eight GPUs as on one, and as long. The loss
# looks very good.
#
# **Why.** The sampler is missing. The loader was left as it was, with `shuffle=True`. Every rank
# works through the whole data set, so each epoch is eight epochs.
#
# **What to do.** Print `len(loader)` on rank 0 at the start: it should be the number of samples
# divided by the global batch. This line finds three mistakes: the missing sampler, the batch that
# was not divided, and a loader that is empty because `drop_last=True` met a small data set.

# %% [markdown]
# ## A new order in each epoch
#
# In a single process, each pass through a loader with `shuffle=True` draws a new permutation. The
# ranks must draw the *same* new permutation, so the sampler cannot just go on drawing. It uses
# the seed `seed + epoch`. And the epoch is a number that **you** have to tell it:
# `sampler.set_epoch(epoch)`.
#
# What if you do not?


# %%
def demo_set_epoch():
    sampler = DistributedSampler(range(8), shuffle=True)
    forgotten = [list(sampler) for _ in range(3)]
    told = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        told.append(list(sampler))
    print(f"without set_epoch {forgotten}")
    print(f"with set_epoch    {told}")


if __name__ == "__main__":
    show(demo_set_epoch, ranks=2)

# %% [markdown]
# ```output
# rank 0 | without set_epoch [[4, 7, 2, 1], [4, 7, 2, 1], [4, 7, 2, 1]]
# rank 0 | with set_epoch    [[4, 7, 2, 1], [5, 2, 7, 1], [0, 7, 6, 1]]
# rank 1 | without set_epoch [[0, 3, 5, 6], [0, 3, 5, 6], [0, 3, 5, 6]]
# rank 1 | with set_epoch    [[0, 3, 5, 6], [4, 6, 3, 0], [4, 2, 5, 3]]
# ```

# %% [markdown]
# Without it, every epoch is epoch 0: the same order, the same batches, although `shuffle=True`
# stands there. It is not an error and it is not overfitting; training just loses what shuffling
# is for.
#
# The call must come **before** the loop over the loader begins. `for batch in loader` asks the
# sampler for its order at the start, and never again in this epoch.
#
# ### Exercise 3.3: epochs
#
# Write the two loops once, so that nobody can forget the call. `yield` makes a
# [generator](https://docs.python.org/3/tutorial/classes.html#generators): the caller gets one
# batch at a time.


# %% exercise="3.3" title="Epochs with set_epoch"
def run_epochs(loader: DataLoader, epochs: int, *, start_epoch: int = 0) -> Iterator[tuple[int, Any]]:
    """Yield (epoch, batch) for all batches of epoch start_epoch, then the next, up to epochs - 1.

    The order in epoch e is the sampler's order after loader.sampler.set_epoch(e). So a training
    that was interrupted and goes on with start_epoch=3 sees what it would have seen in epoch 3.
    A sampler that has no set_epoch (that of a loader in a single process) is used as it is.

    Args:
        loader: Made with `sampler=`, or `shuffle=`, or neither.
        epochs: The number of epochs of the whole training; with start_epoch >= epochs nothing is
            left to do.
        start_epoch: The first epoch to run.
    """
    # BEGIN SOLUTION
    for epoch in range(start_epoch, epochs):
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        for batch in loader:
            yield epoch, batch
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Two loops, one in the other. `set_epoch` stands between the first `for` and the second.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `hasattr(loader.sampler, "set_epoch")` tells whether there is such a method. The epochs are
# `range(start_epoch, epochs)`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# for epoch in range(start_epoch, epochs):
#     ...                        # set_epoch, if the sampler has it
#     for batch in loader:
#         yield ...
# ```
#
# </details>
#
# Training loops get short:


# %%
def demo_run_epochs():
    loader = build_loader(range(12), global_batch_size=6)
    for epoch, batch in run_epochs(loader, epochs=2):
        print(f"epoch {epoch}: {batch.tolist()}")


if __name__ == "__main__":
    show(demo_run_epochs, ranks=2)

# %% [markdown]
# ```output
# rank 0 | epoch 0: [8, 5, 7]
# rank 0 | epoch 0: [2, 3, 11]
# rank 0 | epoch 1: [1, 6, 11]
# rank 0 | epoch 1: [5, 2, 10]
# rank 1 | epoch 0: [0, 9, 4]
# rank 1 | epoch 0: [10, 1, 6]
# rank 1 | epoch 1: [4, 8, 0]
# rank 1 | epoch 1: [3, 9, 7]
# ```

# %% [markdown]
# ### In practice: set_epoch at the wrong place
#
# **What you see.** One of these, if you are lucky:
#
# ```text
# AttributeError: 'SequentialSampler' object has no attribute 'set_epoch'
# AttributeError: 'BatchSampler' object has no attribute 'set_epoch'
# ```
#
# If you are not, you see nothing: the call reached some object that has a `set_epoch` and makes
# nothing of it.
#
# **Why.** If you pass `batch_sampler=` to the DataLoader, `loader.sampler` is a sampler that nobody
# uses. The one with the shuffle is inside: `loader.batch_sampler.sampler`. A set_epoch of the *data
# set* (streaming data sets have one) is another story: with `persistent_workers=True` the worker
# processes keep the copy of the data set that they started with, and never hear of a new epoch.
# The sampler does not have this problem. It lives in the rank's own process.
#
# **What to do.** Look once: print the first indices of two epochs. They must differ, and be the
# same in the next run.

# %% [markdown]
# ## Some samples count twice
#
# Padding keeps the counts equal, and breaks promise 2: some samples are used twice. 'Each rank has
# its own samples', as many tutorials say, is true only if the number of samples can be divided
# by the world size.
#
# How bad is it? The padding is always shorter than the world size. In *training* it does not
# matter: 7 of a million samples get a little more weight in this epoch, and other ones in the
# next, because the padding comes from the beginning of the *shuffled* order.
#
# ### Exercise 3.4: how many?


# %% exercise="3.4" title="How many samples count twice"
def padding_count(n: int, world_size: int) -> int:
    """How many indices DistributedSampler (drop_last=False) adds in an epoch, over all ranks.

    Args:
        n: The number of samples, at least 1. May be smaller than world_size.
        world_size: The number of ranks, at least 1.

    Returns:
        An int from 0 to world_size - 1.
    """
    # BEGIN SOLUTION
    return -n % world_size
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Not the remainder `n % world_size`: that many were dealt in the last round, but you want to know
# how many are missing in it. Try 10 samples on 4 ranks, and 8 on 4.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The padded length is `math.ceil(n / world_size) * world_size`. Subtract n.
#
# </details>


# %%
def demo_padding():
    for n in (8, 9, 10, 3):
        print(f"{n} samples on 4 ranks: {padding_count(n, 4)} added; on 8 ranks: {padding_count(n, 8)}")


if __name__ == "__main__":
    show(demo_padding, ranks=1)

# %% [markdown]
# ```output
# rank 0 | 8 samples on 4 ranks: 0 added; on 8 ranks: 0
# rank 0 | 9 samples on 4 ranks: 3 added; on 8 ranks: 7
# rank 0 | 10 samples on 4 ranks: 2 added; on 8 ranks: 6
# rank 0 | 3 samples on 4 ranks: 1 added; on 8 ranks: 5
# ```

# %% [markdown]
# ## Evaluation: every sample exactly once
#
# In evaluation, padding is a mistake. Each sample should count once. Here is a test set of ten
# samples. The model is right on all but the first. Its accuracy is 9 / 10 = 0.9. Each rank counts
# its own samples, and [`all_reduce`](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce)
# adds up:


# %%
def count_right(sampler):
    """(number of right answers, number of samples) over all ranks."""
    right = [index != 0 for index in sampler]  # the model is wrong on sample 0
    counts = torch.tensor([sum(right), len(right)], device=device())
    dist.all_reduce(counts)
    return counts.tolist()


def demo_padded_accuracy():
    right, seen = count_right(DistributedSampler(range(10), shuffle=False))
    print(f"accuracy {right / seen:.3f} ({right} of {seen})")


if __name__ == "__main__":
    show(demo_padded_accuracy, ranks=2)
    show(demo_padded_accuracy, ranks=4)

# %% [markdown]
# ```output
# rank 0 | accuracy 0.900 (9 of 10)
# rank 1 | accuracy 0.900 (9 of 10)
# rank 0 | accuracy 0.833 (10 of 12)
# rank 1 | accuracy 0.833 (10 of 12)
# rank 2 | accuracy 0.833 (10 of 12)
# rank 3 | accuracy 0.833 (10 of 12)
# ```

# %% [markdown]
# The same model, the same test set, another number of ranks, another accuracy. On 4 ranks, samples
# 0 and 1 are counted twice, and 0 is the wrong one. `drop_last=True` is no way out: then two samples
# are not tested at all.
#
# The way out is to give up promise 3. Why were equal counts needed? Because each training step
# has a collective. A loop without collectives does not need them. So in evaluation each rank
# works through its samples, however many it has, and *after* the loop one collective adds up
# the counts.
#
# ### Exercise 3.5: a sampler for evaluation
#
# A sampler is a small class: `__iter__` gives the indices, and `__len__` says how many there are.
# ([`Sampler`](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Sampler) is the base
# class. It tells readers what you mean, and asks nothing else of you.)


# %% exercise="3.5" title="A sampler for evaluation"
class UnpaddedSampler(Sampler[int]):
    """Shares out a data set so that every index comes exactly once, on one of the ranks.

    Each rank gets n // num_replicas indices, or one more: no padding, and nothing dropped. Which
    rank gets which index, and in what order, is up to you, but it is the same in each pass. n may
    be smaller than the number of ranks, or 0: then some ranks get nothing.
    """

    def __init__(self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None) -> None:
        """Share out the indices 0 .. n - 1 of a data set.

        Args:
            dataset: Only its length n is used.
            num_replicas: The number of ranks; by default the default process group's.
            rank: From 0 to num_replicas - 1; by default this process's. If both are given, no
                process group is needed.
        """
        # BEGIN SOLUTION
        num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
        rank = dist.get_rank() if rank is None else rank
        self.indices = range(rank, len(dataset), num_replicas)
        # END SOLUTION

    def __iter__(self) -> Iterator[int]:
        """The indices of this rank, from the first one, each time that it is called."""
        # BEGIN SOLUTION
        return iter(self.indices)
        # END SOLUTION

    def __len__(self) -> int:
        """The number of indices of this rank."""
        # BEGIN SOLUTION
        return len(self.indices)
        # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Deal, and stop when there are no more cards. `range(10)[3::4]` is `range(3, 10, 4)`: 3 and 7.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `rank or dist.get_rank()` looks right, and is wrong for `rank=0`, which counts as false. Write
# `dist.get_rank() if rank is None else rank`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# In `__init__`, keep `self.indices = range(rank, len(dataset), num_replicas)`. A range knows its
# length, and `iter(self.indices)` starts a new pass each time.
#
# </details>


# %%
def demo_exact_accuracy():
    sampler = UnpaddedSampler(range(10))
    right, seen = count_right(sampler)
    print(f"my samples {list(sampler)}   accuracy {right / seen:.3f} ({right} of {seen})")


if __name__ == "__main__":
    show(demo_exact_accuracy, ranks=4)

# %% [markdown]
# ```output
# rank 0 | my samples [0, 4, 8]   accuracy 0.900 (9 of 10)
# rank 1 | my samples [1, 5, 9]   accuracy 0.900 (9 of 10)
# rank 2 | my samples [2, 6]   accuracy 0.900 (9 of 10)
# rank 3 | my samples [3, 7]   accuracy 0.900 (9 of 10)
# ```

# %% [markdown]
# ### In practice: validation hangs, but not always
#
# **What you see.** The loop below works with 8 samples on 2 ranks. With 9, rank 0 has a batch more:
#
# ```python
# for batch in DataLoader(dataset, batch_size=1, sampler=UnpaddedSampler(dataset)):
#     loss = loss_of(batch)
#     dist.all_reduce(loss)         # to print the loss of all ranks
# print("done")
# ```
#
# ```text
# hung
# what       rank 0 never came back
# where      rank 0 waits in all_reduce at evaluation.py:13
#            rank 1 returned at evaluation.py:14
# cause      rank 1 left without entering that collective
# ```
#
# (This is what the grader of this course says. PyTorch alone says nothing, until the timeout.)
#
# **Why.** A collective *in* the loop makes it a loop that needs equal counts. The collective may
# be hidden: in a metric that synchronises in each step, or in a forward through SyncBatchNorm in
# training mode.
#
# **What to do.** Count locally, reduce once after the loop. Evaluate with `model.eval()`, through
# `ddp_model.module`. Lesson 07 treats exact evaluation in full.
#
# ### In practice: more GPUs, better model?
#
# **What you see.** A colleague evaluates your checkpoint on 4 GPUs instead of 8 and reports
# another accuracy, different in the third digit.
#
# **Why.** Padding, as above. It was reported for PyTorch in 2019
# ([pytorch#25162](https://github.com/pytorch/pytorch/issues/25162)), and the answer was the option
# `drop_last`, which does not make evaluation exact either.
#
# **What to do.** A sampler without padding, or padding whose results are cut off again.

# %% [markdown]
# ## Randomness: what must be equal, what must differ
#
# You have met one random thing that must be the same on all ranks, the shuffle. There are others,
# and some of them must *differ*:
#
# | random | on the ranks | how |
# |---|---|---|
# | split into training and validation | **equal** | a generator of its own with a fixed seed |
# | shuffle | **equal** | the sampler's `seed`, and `set_epoch` |
# | initial weights | **equal** | DDP copies those of rank 0 (lesson 04) |
# | augmentation | **different** | the rank goes into the seed |
# | dropout | **different** | `torch.manual_seed(seed + rank)` |
#
# Two rules follow. **Equal things get a generator of their own.** And **the global seed depends
# on the rank**, since that is what everything else draws from.
#
# ### The split
#
# [`random_split`](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split)
# draws from the global generator if you give it none:


# %%
def demo_split():
    _, own = random_split(range(10), [8, 2])
    _, shared = random_split(range(10), [8, 2], generator=torch.Generator().manual_seed(0))
    print(f"validation samples: {own.indices} without generator, {shared.indices} with")


if __name__ == "__main__":
    show(demo_split, ranks=2)

# %% [markdown]
# ```output
# rank 0 | validation samples: [3, 8] without generator, [6, 2] with
# rank 1 | validation samples: [8, 2] without generator, [6, 2] with
# ```

# %% [markdown]
# Without the generator, sample 3 is kept for validation on rank 0, and rank 1 trains on it. With DDP
# there is only one model, so it is tested on what it was trained on.
#
# ### In practice: validation is too good
#
# **What you see.** Validation accuracy is far above that on new data.
#
# **Why.** `random_split` without a generator, in a program that seeds each rank differently, or
# not at all. [One project](https://github.com/TensorAuto/OpenTau/pull/498) had done the right thing
# for its augmentation, a seed for each rank, and its split drew from the same global generator.
#
# **What to do.** `generator=torch.Generator().manual_seed(0)`, on all ranks. Better still, make the
# split once and store its indices in a file. Then it does not depend on a seed at all.

# %% [markdown]
# ### Augmentation in worker processes
#
# With `num_workers=2`, a DataLoader starts two **workers**, processes that fetch samples for it.
# Random crops and flips happen there. Two ranks with two workers each have four workers:
#
# ```mermaid
# flowchart TB
#     subgraph R0["rank 0"]
#         M0["training loop"] --- W00["worker 0"]
#         M0 --- W01["worker 1"]
#     end
#     subgraph R1["rank 1"]
#         M1["training loop"] --- W10["worker 0"]
#         M1 --- W11["worker 1"]
#     end
# ```
#
# What are they seeded with? At the start of each epoch, the loader draws one number from its
# rank's generator, the **base seed**. In each worker, torch, `random` and numpy are seeded from the
# base seed and the worker's number. (For torch and `random`, the seed is the sum of the two.) So
# the workers of one rank differ, and so do the epochs.
#
# But if all ranks have called `torch.manual_seed(0)`, "to be reproducible", all ranks draw the same
# base seed:


# %%
class Noise(Dataset):
    """Four samples. Each is a random number, which stands for an augmentation."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.rand(())


def demo_workers(seed_each):
    torch.manual_seed(0)  # the same on all ranks
    init = partial(seed_worker, rank=int(os.environ["RANK"])) if seed_each else None
    loader = DataLoader(Noise(), batch_size=2, num_workers=2, worker_init_fn=init)
    for epoch in range(2):
        first, second = [batch.numpy().round(3) for batch in loader]
        print(f"epoch {epoch}: worker 0 drew {first}, worker 1 drew {second}")


if __name__ == "__main__":
    show(demo_workers, ranks=2, args=(False,), group=False)

# %% [markdown]
# ```output
# rank 0 | epoch 0: worker 0 drew [0.782 0.054], worker 1 drew [0.694 0.298]
# rank 0 | epoch 1: worker 0 drew [0.643 0.877], worker 1 drew [0.063 0.148]
# rank 1 | epoch 0: worker 0 drew [0.782 0.054], worker 1 drew [0.694 0.298]
# rank 1 | epoch 1: worker 0 drew [0.643 0.877], worker 1 drew [0.063 0.148]
# ```

# %% [markdown]
# Both ranks draw the same numbers. With eight GPUs you would have an eighth of the variety in
# your augmentation, and no sign of it.
#
# The simplest cure is the rule from above, `torch.manual_seed(seed + rank)` on each rank: then the
# base seeds differ. But some other part of your program, or a framework, may want the same seed
# on all ranks. Then seed the workers yourself. The DataLoader calls `worker_init_fn(worker_id)` in
# each worker when it starts, after its own seeding.
#
# Which seed? Take care with `base_seed + rank + worker_id`. For worker 1 of rank 0 and worker 0 of
# rank 1 the sum is the same.
#
# ### Exercise 3.6: seed a worker
#
# In a worker,
# [`torch.utils.data.get_worker_info()`](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.get_worker_info)
# tells what you need: `info.seed` (base seed + worker's number), `info.id` and `info.num_workers`.
# The rank comes as an argument: `worker_init_fn=partial(seed_worker, rank=dist.get_rank())`. Do not
# ask for it in the worker. A worker is not a member of the process group, and depending on how it
# was started, `dist.get_rank()` raises an error there.


# %% exercise="3.6" title="Seed the workers"
def seed_worker(worker_id: int, rank: int) -> None:
    """Seed torch, numpy (np.random) and random in this worker of a DataLoader.

    It runs in each worker, as worker_init_fn=partial(seed_worker, rank=...), when all ranks have
    the same torch.manual_seed and the same number of workers. Afterwards, each of the three
    libraries draws different numbers

    - in every (rank, worker), no two of them alike, and
    - in every epoch (each one starts new workers, and `get_worker_info().seed` is a new number),

    and the same numbers when the program is run again.

    Args:
        worker_id: From 0 to get_worker_info().num_workers - 1.
        rank: The rank whose loader has this worker.
    """
    # BEGIN SOLUTION
    info = get_worker_info()
    # info.seed is base seed + worker_id; the base seed is the same on all ranks, new in each epoch.
    seed = info.seed + info.num_workers * rank
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Number all workers of all ranks: rank 0 has the numbers 0 and 1, rank 1 has 2 and 3, and so on.
# It is the same as the global rank from node and local rank in lesson 01.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Forget the base seed, and each epoch has the same augmentations. `info.seed` has it, and the
# worker's number is added already: add `info.num_workers * rank`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `torch.manual_seed(seed)`, `random.seed(seed)`, and `np.random.seed(seed % 2**32)`. The seed has up
# to 63 bits, and numpy takes 32: it raises `ValueError: Seed must be between 0 and 2**32 - 1`.
#
# </details>


# %%
if __name__ == "__main__":
    show(demo_workers, ranks=2, args=(True,), group=False)

# %% [markdown]
# ```output
# rank 0 | epoch 0: worker 0 drew [0.782 0.054], worker 1 drew [0.694 0.298]
# rank 0 | epoch 1: worker 0 drew [0.643 0.877], worker 1 drew [0.063 0.148]
# rank 1 | epoch 0: worker 0 drew [0.654 0.299], worker 1 drew [0.134 0.199]
# rank 1 | epoch 1: worker 0 drew [0.111 0.022], worker 1 drew [0.152 0.443]
# ```

# %% [markdown]
# ### In practice: a generator that is made too early
#
# **What you see.** You have seeded everything, and still all workers augment alike, in each epoch.
#
# **Why.** `self.rng = np.random.default_rng(0)` in the data set's `__init__`. The data set is copied
# into each worker, generator included. All copies have the same state, and a copy's state is lost
# when the epoch ends.
#
# **What to do.** Make it in the worker: in `worker_init_fn`,
# `get_worker_info().dataset.rng = np.random.default_rng(seed)`. And for `num_workers=0`, where no
# worker_init_fn is called, seed the rank's own process.

# %% [markdown]
# ## Resuming in the middle of an epoch
#
# An epoch can take a day. If the job is stopped in the middle, it should go on with the samples
# that were not used yet.
#
# You need little for that. The order of an epoch follows from `seed` and `epoch`. And because the
# ranks take turns, what has been used is always a beginning of this order. After 2 steps with a
# global batch of 6 it is the first 12 samples, no matter how many ranks there were:
#
# ```mermaid
# flowchart LR
#     A["done: the first 12<br/>2 steps * 6 samples"] --> B["left: deal these to the ranks<br/>that there are now"]
# ```
#
# So the checkpoint stores three numbers, `seed`, `epoch` and `samples_done`. Leave out the first
# `samples_done` of the order, and deal the rest. You may even go on with another number of ranks.
#
# (Skipping batches in the loop with `continue` gives the same result, but every skipped sample is
# loaded, decoded and augmented for nothing.)
#
# ### Exercise 3.7: the rest of an epoch


# %% exercise="3.7" title="Resume in mid-epoch"
# BEGIN SOLUTION
class _RestOfEpoch(Sampler[int]):
    """Like DistributedSampler, but leaves out the first samples of one epoch."""

    def __init__(self, n, world_size, rank, epoch, samples_done, shuffle, seed, drop_last):
        self.n, self.world_size, self.rank = n, world_size, rank
        self.epoch, self.drop_last = epoch, drop_last
        self.shuffle, self.seed = shuffle, seed
        self.interrupted, self.samples_done = epoch, samples_done

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        # One rank alone: the whole order, without padding.
        order = shard_indices(self.n, 1, 0, shuffle=self.shuffle, seed=self.seed, epoch=self.epoch)
        rest = order[self._skipped() :]
        if self.drop_last:
            rest = rest[: len(rest) - len(rest) % self.world_size]
        else:
            rest += itertools.islice(itertools.cycle(order), -len(rest) % self.world_size)
        return iter(rest[self.rank :: self.world_size])

    def __len__(self):
        left = self.n - self._skipped()
        return left // self.world_size if self.drop_last else -(-left // self.world_size)

    def _skipped(self):
        return min(self.samples_done, self.n) if self.epoch == self.interrupted else 0


# END SOLUTION
def resume_sampler(
    dataset: Sized,
    epoch: int,
    samples_done: int,
    *,
    shuffle: bool = True,
    seed: int = 0,
    drop_last: bool = False,
    num_replicas: int | None = None,
    rank: int | None = None,
) -> Sampler[int]:
    """A sampler like DistributedSampler that begins in the middle of `epoch`, and then goes on.

    In the epoch that was interrupted, the first `samples_done` of its order (see shard_indices,
    step 1) are left out. What is left is made divisible by the number of ranks and dealt as
    always: with drop_last by leaving out the last ones, without by adding indices from the
    beginning of the whole order (not of what is left), as often as needed. So with the same number
    of ranks, every rank gets just what it would still have got without the interruption.

    The sampler has a method set_epoch, as DistributedSampler has. It starts in `epoch`, also
    without a call of set_epoch. Calling set_epoch(epoch) before the first pass changes nothing.
    Other epochs are complete: those of DistributedSampler.
    len(sampler) is the number of indices that the next pass gives.

    Args:
        dataset: Only its length, at least 1, is used.
        epoch: The epoch that was interrupted.
        samples_done: How many samples of this epoch all ranks together have trained on: steps
            done times global batch size. The number of ranks may have been another one, so it need
            not be a multiple of num_replicas. If it is the length of the dataset or more, the
            epoch is over: nothing is left of it.
        shuffle, seed, drop_last: As for DistributedSampler, and as before the interruption.
        num_replicas, rank: By default those of the process group. If both are given, no process
            group is needed.
    """
    # BEGIN SOLUTION
    world_size = dist.get_world_size() if num_replicas is None else num_replicas
    rank = dist.get_rank() if rank is None else rank
    return _RestOfEpoch(len(dataset), world_size, rank, epoch, samples_done, shuffle, seed, drop_last)
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Write a small class of your own with `__init__`, `set_epoch`, `__iter__` and `__len__`, above this
# function, and return an object of it. `shard_indices(n, 1, 0, ...)` is the whole order of an epoch
# without padding: with one rank, all of it goes to rank 0.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In `__iter__`, decide by comparing epochs whether to leave something out:
# `skipped = samples_done if self.epoch == interrupted else 0`. Then
# `rest = order[skipped:]`, then pad or drop, then `rest[rank::world_size]`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# def __iter__(self):
#     order = shard_indices(n, 1, 0, shuffle=..., seed=..., epoch=self.epoch)
#     rest = order[skipped:]
#     missing = -len(rest) % world_size
#     if drop_last:
#         rest = rest[: len(rest) - len(rest) % world_size]
#     else:
#         rest = rest + (order * world_size)[:missing]
#     return iter(rest[rank::world_size])
# ```
#
# The length is `left // world_size` with drop_last, else `math.ceil(left / world_size)`, where
# `left` is `n - skipped`, but not below 0. Or simply the length of the list above.
#
# </details>
#
# Two ranks stop after one step of 6 samples. They go on as two ranks, or as three:


# %%
def demo_resume(samples_done):
    sampler = resume_sampler(range(16), epoch=1, samples_done=samples_done)
    loader = DataLoader(range(16), batch_size=6 // dist.get_world_size(), sampler=sampler)
    print("   ".join(str(batch.tolist()) for _, batch in run_epochs(loader, epochs=2, start_epoch=1)))


if __name__ == "__main__":
    print("epoch 1, not interrupted")
    show(demo_resume, ranks=2, args=(0,))
    print("the rest of it, after 6 samples")
    show(demo_resume, ranks=2, args=(6,))
    print("the same rest, on three ranks")
    show(demo_resume, ranks=3, args=(6,))

# %% [markdown]
# ```output
# epoch 1, not interrupted
# rank 0 | [5, 6, 11]   [7, 1, 9]   [10, 13]
# rank 1 | [15, 4, 2]   [12, 0, 8]   [3, 14]
# the rest of it, after 6 samples
# rank 0 | [7, 1, 9]   [10, 13]
# rank 1 | [12, 0, 8]   [3, 14]
# the same rest, on three ranks
# rank 0 | [7, 0]   [10, 14]
# rank 1 | [12, 9]   [3, 5]
# rank 2 | [1, 8]   [13, 15]
# ```

# %% [markdown]
# ### In practice: counting at the wrong place
#
# **What you see.** After resuming, some samples of the epoch never come.
#
# **Why.** The sampler itself was made to count the indices that it gave out. But workers load
# ahead, by default two batches each. With batches of 4 and two workers, the sampler has given out
# 20 indices when the first batch reaches the training loop.
#
# | batches trained on | samples trained on | given out, `num_workers=0` | given out, `num_workers=2` |
# |---|---|---|---|
# | 1 | 4 | 4 | 20 |
# | 2 | 8 | 8 | 24 |
# | 3 | 12 | 12 | 28 |
#
# **What to do.** Count in the training loop, in steps. If you want it done for you: `torchdata` has a
# [`StatefulDataLoader`](https://github.com/meta-pytorch/data/tree/main/torchdata/stateful_dataloader) and a
# `StatefulDistributedSampler`, which are saved and loaded like a model. They count per rank, so the
# number of ranks must stay the same.
#
# ### In practice: every epoch is short now
#
# **What you see.** After resuming, all later epochs are as short as the interrupted one
# ([datasets#7447](https://github.com/huggingface/datasets/issues/7447) shows it for a streaming data
# set).
#
# **Why.** What is left out in one epoch is left out in all: the number of samples to skip was not
# cleared.
#
# **What to do.** Test a resumed run for *two* epochs.

# %% [markdown]
# ## When there are no indices
#
# All of this needs a data set with a length. An
# [`IterableDataset`](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset)
# is a stream and takes no sampler (`ValueError: DataLoader with IterableDataset: expected unspecified
# sampler option`): every worker of every rank reads the whole stream unless the data set itself
# leaves out what is not its own, by rank *and* by worker.

# %% [markdown]
# ## Check questions
#
# <!-- questions -->

# %% [markdown]
# ## Recap
#
# - No one hands out samples. Each rank computes its indices: shuffle with a shared seed, make it come
#   out even, deal.
# - `DistributedSampler` does this. It pads by default, so some samples come twice;
#   `drop_last=True` drops instead.
# - `batch_size` is per rank. Fix the global batch and divide it.
# - `loader.sampler.set_epoch(epoch)` before each epoch, or all epochs have the same order.
# - Evaluate without padding, and without a collective in the loop.
# - Split and shuffle are equal on all ranks, augmentation and dropout differ.
# - To resume in mid-epoch, store seed, epoch and the number of samples done, counted in the loop.
#
# **Read on:** [data loading](https://docs.pytorch.org/docs/stable/data.html),
# [DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler),
# [randomness in workers](https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading),
# [reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html).
#
# In lesson 04 the ranks learn together.
