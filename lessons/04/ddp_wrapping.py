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
#     lesson: "04"
#     title: Wrapping a model in DistributedDataParallel
#     promise: >-
#       After this lesson you can write data-parallel training by hand, let DistributedDataParallel
#       do it faster, and say what it does, when it does it, and what it leaves to you.
#     minutes: {reading: 35, exercises: 60}
#     needs: ["01", "02"]
# ---

# %% [markdown]
# # Lesson 04: Wrapping a model in DistributedDataParallel
#
# **After this lesson you can** write data-parallel training by hand, let
# `DistributedDataParallel` do it faster, and say what it does, when it does it, and what it
# leaves to you.
#
# **Time:** 35 minutes to read, 60 minutes for eight exercises. **You need:** lesson 01 (ranks,
# collectives) and lesson 02 (the process group).
#
# How to work: `lessons/04/ddp_wrapping.py` holds eight exercises, functions that raise
# `NotImplementedError`. Write them one by one. `pytest lessons/04` tells you how far you are and
# what is wrong. `python lessons/04/ddp_wrapping.py` shows the examples with your code in them.

# %%
import inspect
from collections.abc import Callable, Iterable

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

from ddp_grader import device, show

# %% [markdown]
# ## The plan: copies that never drift apart
#
# Every rank has its own copy of the model and its own part of each batch. When the training is
# over, you want *one* model. So the copies must stay equal, all the time. How?
#
# You could send the weights around after each step. There is a cheaper way. Think of what a
# training step needs: the weights, the gradient, and the optimizer's state (its momentum, say).
# If these are equal on two ranks before the step, the weights are equal after it. A new optimizer
# has the same state everywhere. So two promises are enough:
#
# 1. **Same start.** All ranks begin with the same weights.
# 2. **Same gradient.** In each step, all ranks use the same gradient.
#
# Keep both, and the copies are equal forever. No weight is ever sent again.
#
# Which gradient? The **mean** of all ranks' gradients. If the local batches are of equal size,
# it is exactly the gradient that one process would find with all of the data.
#
# ```mermaid
# flowchart TB
#     W["equal weights on all ranks"] --> F0["rank 0: forward and backward<br/>with its part of the batch"]
#     W --> F1["rank 1: forward and backward<br/>with its part of the batch"]
#     F0 -- "gradient of rank 0" --> M(("mean"))
#     F1 -- "gradient of rank 1" --> M
#     M -- "same gradient" --> S0["rank 0: optimizer.step()"]
#     M -- "same gradient" --> S1["rank 1: optimizer.step()"]
#     S0 --> E["equal weights on all ranks"]
#     S1 --> E
# ```
#
# [`DistributedDataParallel`](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html),
# **DDP** for short, keeps both promises for you. To know what it does, you first keep them
# yourself. It takes two functions.

# %% [markdown]
# ## Same start
#
# A new model gets random weights, and each process draws its own:


# %%
def demo_different_start():
    model = nn.Linear(2, 1)
    print(f"weight {[round(w, 2) for w in model.weight.flatten().tolist()]}")


if __name__ == "__main__":
    show(demo_different_start, ranks=2)

# %% [markdown]
# ```output
# rank 0 | weight [-0.26, 0.16]
# rank 1 | weight [-0.15, -0.48]
# ```

# %% [markdown]
# The cure is to copy rank 0's model to all others, once, before the first step. The collective
# for this is
# [`dist.broadcast(tensor, src=0)`](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast).
# Every rank calls it with a tensor of the same shape and dtype. On rank 0 the tensor is read, on
# the others it is overwritten.
#
# A model consists of two kinds of tensors, and **both** must be copied:
#
# | | what | examples | changed by |
# |---|---|---|---|
# | `model.parameters()` | the weights | `weight`, `bias` | the optimizer |
# | `model.buffers()` | all other tensors of the model's state | BatchNorm's `running_mean`, `running_var` and `num_batches_tracked`, masks, position tables | the model's own forward, or nobody |
#
# Buffers can be of any dtype (`num_batches_tracked` is an int64 without dimensions). A buffer
# registered with `persistent=False` is not in `state_dict()`, but it takes part in the
# computation like any other.
#
# There is one trap. A collective reads a tensor's memory from its first element on, and expects
# its elements to lie there side by side. A **strided view** is different: between its elements
# lie others, which do not belong to it. Look at what Gloo makes of one:


# %%
def demo_strided():
    table = torch.zeros(2, 4)
    view = table[:, ::2]  # columns 0 and 2
    view.fill_(10.0 if dist.get_rank() == 0 else 20.0)
    dist.broadcast(view, src=0)
    print(view.tolist())


if __name__ == "__main__":
    show(demo_strided, ranks=2)

# %% [markdown]
# ```output
# rank 0 | [[10.0, 10.0], [10.0, 10.0]]
# rank 1 | [[10.0, 10.0], [20.0, 20.0]]
# ```

# %% [markdown]
# Half of rank 1's values are still its own. Gloo took four neighbours in memory, and two of
# these are not in the view. It said nothing ([it is a known
# problem](https://github.com/pytorch/pytorch/issues/192920)). NCCL refuses the same call with
# `Tensors must be contiguous`.
#
# A transposed tensor such as `w.t()` has no gaps, but its elements lie in another order. If it is
# transposed on rank 0 and not on rank 1, the values arrive in the wrong places, silently as well.
#
# Most parameters are contiguous. Those that are not come from slicing or transposing other
# tensors, for example to convert the weights of another library. The cure is always the same:
# send a contiguous copy, and copy the result back.
#
# ### Exercise 4.1: broadcast the model


# %% exercise="4.1" title="Broadcast the model"
def broadcast_model(model: nn.Module) -> None:
    """Copy rank 0's parameters and buffers into every other rank's model, in place.

    Needs an initialised process group, and the model on the device that its backend reads. Every
    rank calls this function with a model of the same structure and the same shapes. Afterwards
    all values are those that rank 0 had; rank 0's own have not changed.

    - All parameters (frozen ones, too) and all buffers, those with `persistent=False` as well.
    - Buffers of any dtype: float, int64, bool. Tensors without dimensions.
    - Tensors that are not contiguous: transposed or strided views. Their strides may even differ
      between ranks.
    - In place: parameters and buffers stay the same objects (an optimizer may hold them), and
      keep their requires_grad and .grad.
    """
    raise NotImplementedError("Exercise 4.1: broadcast_model is not written yet")


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# One loop over the parameters and one over the buffers, with a broadcast from rank 0 in each.
# Both are generators that give the tensors in the same order on every rank.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `tensor.contiguous()` returns the tensor itself if it is contiguous already, else a copy. What
# you receive into a copy must be copied back: `tensor.copy_(values)`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# PyTorch does not allow an in-place change of a parameter that requires a gradient: `a leaf
# Variable that requires grad is being used in an in-place operation`. `tensor.detach()` shares
# the memory but takes no part in autograd. So the loop's body is
#
# ```python
# values = tensor.detach().contiguous()
# dist.broadcast(values, src=0)
# tensor.detach().copy_(values)
# ```
#
# </details>


# %%
def demo_same_start():
    model = nn.BatchNorm1d(1).to(device())
    model.weight.data.fill_(dist.get_rank() + 1.0)
    model.running_mean.fill_(dist.get_rank() + 1.0)
    broadcast_model(model)
    print(f"weight {model.weight.item()}, running_mean {model.running_mean.item()}")


if __name__ == "__main__":
    show(demo_same_start, ranks=3)

# %% [markdown]
# ```output
# rank 0 | weight 1.0, running_mean 1.0
# rank 1 | weight 1.0, running_mean 1.0
# rank 2 | weight 1.0, running_mean 1.0
# ```

# %% [markdown]
# ### In practice: the same seed instead of a broadcast
#
# **What you see.** It works for months. Then pretrained weights are loaded on rank 0 only, or one
# rank draws one random number more than the others, and the copies are not equal any more. Nothing
# says so.
#
# **Why.** The script calls `torch.manual_seed(0)` on every rank, and so all models start alike,
# without any broadcast. This holds only as long as all ranks draw the same random numbers in the
# same order. And it has a price: dropout now drops the same units on all ranks.
#
# **What to do.** Broadcast. Then give each rank a seed of its own, such as `seed + rank`.
#
# ### In practice: validation depends on the rank
#
# **What you see.** The weights are equal on all ranks. The validation loss of the same images is
# not.
#
# **Why.** The parameters were sent, the buffers were not. In `eval()` mode, BatchNorm computes
# with its running statistics, and these are buffers.
#
# **What to do.** Send both.

# %% [markdown]
# ## Same gradient
#
# Here is the claim from above in numbers. The model is `w * x` with one weight, and its loss is
# the mean over the batch. So the gradient of `w` is the mean of the inputs. The global batch has
# four samples, and each rank gets two.


# %%
def demo_mean_of_gradients():
    x = torch.tensor([1.0, 2.0, 3.0, 6.0], device=device())
    w = torch.ones((), device=device(), requires_grad=True)
    mine = x.chunk(dist.get_world_size())[dist.get_rank()]
    (gradient,) = torch.autograd.grad((w * mine).mean(), w)
    print(f"my samples {mine.tolist()}, my gradient {gradient.item()}")

    dist.all_reduce(gradient)  # the sum over all ranks
    gradient /= dist.get_world_size()
    (whole,) = torch.autograd.grad((w * x).mean(), w)
    print(f"mean over the ranks {gradient.item()}, gradient of the whole batch {whole.item()}")


if __name__ == "__main__":
    show(demo_mean_of_gradients, ranks=2)

# %% [markdown]
# ```output
# rank 0 | my samples [1.0, 2.0], my gradient 1.5
# rank 0 | mean over the ranks 3.0, gradient of the whole batch 3.0
# rank 1 | my samples [3.0, 6.0], my gradient 4.5
# rank 1 | mean over the ranks 3.0, gradient of the whole batch 3.0
# ```

# %% [markdown]
# So after `backward()`, and before `optimizer.step()`, every `p.grad` must be replaced by its
# mean over the ranks.
#
# Not every parameter has a gradient. `p.grad` is `None`, not zero, where
#
# - the parameter is **frozen** (`requires_grad=False`), or
# - it **took no part** in this step's loss, because the forward went another way.
#
# The second can be so on one rank only: each rank has other data. Then "skip it if it is None" is
# a mistake, and a bad one. Say that parameter 1 has no gradient on rank 1:
#
# ```mermaid
# sequenceDiagram
#     participant R0 as rank 0
#     participant R1 as rank 1
#     R0->>R1: 1st all_reduce: gradient 0 meets gradient 0
#     R0->>R1: 2nd all_reduce: gradient 1 meets gradient 2 (wrong!)
#     Note over R0: 3rd all_reduce: gradient 2 waits ...
#     Note over R1: has finished
# ```
#
# If these gradients have the same size, there is no error: the ranks add up gradients of
# different weights. In the end rank 0 waits for a partner that does not come.
#
# All ranks must agree on which parameters are reduced. Only then can a rank that has no gradient
# of its own take part, with zeros.
#
# ### Exercise 4.2: average the gradients


# %% exercise="4.2" title="Average the gradients"
def average_gradients(model: nn.Module) -> None:
    """Replace each parameter's gradient by its mean over all ranks.

    Called after backward() and before optimizer.step(), on every rank, with an initialised
    process group. The gradients are dense and may be non-contiguous.

    For each parameter that requires a gradient:
    - If at least one rank has a gradient, then on every rank `.grad` becomes the sum of all
      gradients divided by the world size. A rank whose `.grad` is None counts as zeros, and gets
      the mean like all others.
    - If no rank has one, `.grad` stays None on all ranks.

    Frozen parameters keep `.grad` None. The weights do not change.
    """
    raise NotImplementedError("Exercise 4.2: average_gradients is not written yet")


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Solve the easy case first, in which all gradients exist: `all_reduce` each of them, then divide
# by the world size. Mind contiguity, as in exercise 4.1.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Before that, let the ranks agree. Make a tensor with one number for each parameter, 1 if it has
# a gradient here and 0 if not. One `all_reduce` with `op=dist.ReduceOp.MAX` makes the number 1
# wherever some rank has a gradient. Put this tensor on the device of the parameters.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The loop, where `used` is the list of these numbers:
#
# ```python
# for parameter, somewhere in zip(parameters, used):
#     if somewhere:
#         if parameter.grad is None:
#             parameter.grad = torch.zeros_like(parameter)
#         total = parameter.grad.clone(memory_format=torch.contiguous_format)
#         dist.all_reduce(total)
#         parameter.grad.copy_(total / dist.get_world_size())
# ```
#
# </details>


# %%
def demo_by_hand():
    model = nn.Linear(2, 1, bias=False).to(device())
    broadcast_model(model)
    model.weight.data.fill_(1.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        x = torch.full((4, 2), float(step + dist.get_rank()), device=device())  # my own data
        optimizer.zero_grad()
        model(x).mean().backward()
        average_gradients(model)
        optimizer.step()
        print(f"step {step}: weight {[round(w, 2) for w in model.weight.flatten().tolist()]}")


if __name__ == "__main__":
    show(demo_by_hand, ranks=2)

# %% [markdown]
# ```output
# rank 0 | step 0: weight [0.95, 0.95]
# rank 0 | step 1: weight [0.8, 0.8]
# rank 0 | step 2: weight [0.55, 0.55]
# rank 1 | step 0: weight [0.95, 0.95]
# rank 1 | step 1: weight [0.8, 0.8]
# rank 1 | step 2: weight [0.55, 0.55]
# ```

# %% [markdown]
# Each rank trained on its own data, and all copies are equal after each step. This is
# data-parallel training, complete.
#
# ### In practice: the sum instead of the mean
#
# **What you see.** With 2 GPUs it works, with 8 the loss explodes. With Adam you may see nothing
# at all.
#
# **Why.** The gradients were added up and never divided. With SGD this is a learning rate 8 times
# too high. Adam divides by the gradient's own size, so it hides the mistake, until you clip
# gradients or compare their norms.
#
# **What to do.** Divide by `dist.get_world_size()`. Not by 2.
#
# ### In practice: averaging the weights instead
#
# **What you see.** It trains, but not like one process with the whole batch.
#
# **Why.** Each rank makes its own optimizer step with its own gradient, and then the weights
# `p.data` are averaged. For plain SGD this is the same. For optimizers that are not linear it is
# not. An example with Adam, a learning rate of 0.1 and one weight: rank 0's gradient is always
# -3, rank 1's is always +1. The mean is -1, so in three steps the weight should grow from 1.0 to
# 1.3. With averaged weights it stays at 1.0: Adam moves one copy by +0.1, the other by -0.1.
#
# **What to do.** Average `p.grad`, before the step.

# %% [markdown]
# ## What DDP does
#
# Your two functions are right, and slow. They wait until the whole backward is done before they
# send the first gradient, and while they send, the GPU has nothing to compute. And they make one
# collective for each parameter. A large model has hundreds, many of them tiny.
#
# DDP computes the same means with better timing. Three ideas make it fast:
#
# - **Hooks.** DDP attaches a small function to each parameter. Autograd calls it in the middle of
#   `backward()`, as soon as this parameter's gradient is ready.
# - **Buckets.** Gradients are collected in buckets of about 25 MiB. When the last gradient of a
#   bucket is ready, one `all_reduce` sends the whole bucket.
# - **Overlap.** This `all_reduce` runs in the background, while backward goes on to the earlier
#   layers. Only at the end of `backward()` does DDP wait for what is still under way.
#
# ```mermaid
# gantt
#     title One backward pass: by hand, and with DDP (time goes to the right)
#     dateFormat X
#     axisFormat %s
#     section by hand
#     backward of layer 3      :h1, 0, 2s
#     backward of layer 2      :h2, after h1, 2s
#     backward of layer 1      :h3, after h2, 2s
#     all-reduce of all layers :crit, h4, after h3, 6s
#     section DDP computes
#     backward of layer 3      :d1, 0, 2s
#     backward of layer 2      :d2, after d1, 2s
#     backward of layer 1      :d3, after d2, 2s
#     section DDP sends
#     bucket of layer 3        :crit, c1, after d1, 2s
#     bucket of layer 2        :crit, c2, after d2, 2s
#     bucket of layer 1        :crit, c3, after d3, 2s
# ```
#
# We can watch it, and one rank is enough for that. The next program prints a line when a gradient
# is ready, and a line when DDP sends a bucket. (It uses two hooks of PyTorch: one on the
# parameters, and DDP's own [communication
# hook](https://docs.pytorch.org/docs/stable/ddp_comm_hooks.html), a function that DDP calls in
# place of its `all_reduce`.) There are three layers of 1 MiB each, and buckets of 1 MiB.


# %%
def demo_buckets():
    layers = [nn.Linear(512, 512, bias=False) for _ in range(3)]
    model = nn.Sequential(*layers).to(device())
    name_of = {parameter: f"layer {i + 1}" for i, parameter in enumerate(model.parameters())}
    ddp_model = DistributedDataParallel(model, bucket_cap_mb=1)

    def tell_and_send(group, bucket):
        names = ", ".join(name_of[p] for p in bucket.parameters())
        print(f"    DDP sends bucket {bucket.index()}: {names}")
        return allreduce_hook(group, bucket)

    ddp_model.register_comm_hook(dist.group.WORLD, tell_and_send)
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(lambda p: print(f"gradient of {name_of[p]}"))
    for step in (1, 2):
        print(f"step {step}")
        ddp_model(torch.ones(1, 512, device=device())).sum().backward()


if __name__ == "__main__":
    show(demo_buckets, ranks=1)

# %% [markdown]
# ```output
# rank 0 | step 1
# rank 0 | gradient of layer 3
# rank 0 | gradient of layer 2
# rank 0 | gradient of layer 1
# rank 0 |     DDP sends bucket 0: layer 1, layer 2, layer 3
# rank 0 | step 2
# rank 0 | gradient of layer 3
# rank 0 |     DDP sends bucket 0: layer 3
# rank 0 | gradient of layer 2
# rank 0 |     DDP sends bucket 1: layer 2
# rank 0 | gradient of layer 1
# rank 0 |     DDP sends bucket 2: layer 1
# ```

# %% [markdown]
# Read step 2 first. Backward goes from the last layer to the first. Layer 3's bucket leaves
# before the gradient of layer 2 is computed. That is the overlap.
#
# In step 1, DDP does not know yet in which order gradients become ready, so it puts all into one
# bucket. It notes the order, and forms its buckets from it for all further steps. So never
# measure the speed of the first step.
#
# Here is all that DDP does, in time:
#
# | when | what DDP does |
# |---|---|
# | `DistributedDataParallel(model)` | compares the parameters' number, shapes and strides on all ranks; copies rank 0's parameters **and buffers** to all others (your 4.1); attaches the hooks |
# | `ddp_model(x)` | copies rank 0's **buffers** to all others, if there are any; calls `model(x)`; gets ready for one backward |
# | `loss.backward()` | averages the gradients, bucket by bucket (your 4.2) |
# | `optimizer.step()` | nothing. DDP has no part in it |
#
# The first three hold collectives: all ranks must make them, the same number of times. And this is
# what DDP **does not** do:
#
# - It does not split the data. Each rank must load its own part (lesson 03).
# - It does not move the model to a device.
# - It does not average the loss, or any metric. What you log is this rank's own (lesson 07).
# - It does not make BatchNorm see the batches of other ranks. More on that below.
# - It does not check later that the copies are still equal.
# - It does not notice parameters that you add to the model afterwards.
#
# ### In practice: a layer that arrived late
#
# **What you see.** Nothing. But the checkpoint is worse than the training loss promises.
#
# **Why.** A layer was added, or a head replaced, after `DistributedDataParallel(model)`. It has no
# hooks. We measured it: two ranks, a new last layer. The gradient of the old layer was the same
# on both ranks. That of the new one was 0.37 on rank 0 and 0.75 on rank 1. Its copies drift apart.
#
# **What to do.** Build the whole model, then wrap it. If you must change it, wrap it anew.

# %% [markdown]
# ## Wrapping, in the right order
#
# Wrapping is one line, but its place matters:
#
# ```mermaid
# flowchart LR
#     A["build the model,<br/>freeze what is frozen"] --> B["move it to the device"]
#     B --> C["convert BatchNorm<br/>(if you want to)"]
#     C --> D["wrap it in DDP"]
#     D --> E["make the optimizer"]
# ```
#
# - **Freeze first.** DDP attaches hooks to the parameters that require a gradient *at this moment*.
#   It then expects a gradient from each of them, in every step.
# - **Move before wrapping.** DDP takes the parameters where they are, and its buckets live there.
# - **The optimizer last.** It must hold the very parameters that the model computes with.
#   `optimizer = SGD(ddp_model.parameters())` and `SGD(model.parameters())` are the same here: the
#   wrapper holds the model itself, not a copy of it.
#
# **`device_ids`.** On a GPU, pass the one device of this process: `device_ids=[local_rank]` or
# `device_ids=[device]`. Then DDP also moves the inputs of each forward there. On the CPU,
# `device_ids` must be left out (`None`).
#
# ### BatchNorm needs a decision
#
# In training, BatchNorm subtracts the mean of the *batch*. Under DDP this is the rank's own part
# of the batch: 32 samples on 8 GPUs are 4 samples for each BatchNorm. And its running statistics?
# See what becomes of them. Rank 0's inputs have the mean 5, rank 1's have 10, and each forward
# moves `running_mean` by one tenth towards the mean of the batch.


# %%
def demo_batchnorm(sync_buffers):
    batchnorm = nn.BatchNorm1d(1).to(device())
    ddp_model = DistributedDataParallel(batchnorm, **buffer_option(sync_buffers))
    x = torch.tensor([[0.0], [10.0]], device=device()) * (dist.get_rank() + 1)
    for step in (1, 2):
        ddp_model(x)
        print(f"running_mean after forward {step}: {batchnorm.running_mean.item():.2f}")


def buffer_option(sync: bool) -> dict[str, bool]:
    """DDP's option for 'send the buffers before each forward', by the name that it has here."""
    options = inspect.signature(DistributedDataParallel).parameters
    new = "forward_sync_buffers" in options
    return {"forward_sync_buffers" if new else "broadcast_buffers": sync}


if __name__ == "__main__":
    show(demo_batchnorm, ranks=2, args=(True,))

# %% [markdown]
# ```output
# rank 0 | running_mean after forward 1: 0.50
# rank 0 | running_mean after forward 2: 0.95
# rank 1 | running_mean after forward 1: 1.00
# rank 1 | running_mean after forward 2: 1.45
# ```

# %% [markdown]
# Each rank updates its own statistics. The next forward begins by overwriting them with rank 0's:
# 1.45 is one tenth of the way from rank 0's 0.50 to 10. What rank 1 has learned is thrown away,
# in each step. So the statistics in your checkpoint are those of rank 0's data. With shuffled data
# and reasonable batch sizes this is fine.
#
# You can switch it off, and then the ranks' statistics drift apart:

# %%
if __name__ == "__main__":
    show(demo_batchnorm, ranks=2, args=(False,))

# %% [markdown]
# ```output
# rank 0 | running_mean after forward 1: 0.50
# rank 0 | running_mean after forward 2: 0.95
# rank 1 | running_mean after forward 1: 1.00
# rank 1 | running_mean after forward 2: 1.90
# ```

# %% [markdown]
# The option is called `forward_sync_buffers` since PyTorch 2.13. Its old name,
# `broadcast_buffers`, is deprecated: the new versions accept it, with a `FutureWarning`. The two
# are not quite the same. `broadcast_buffers=False` sends no buffers at construction either, so
# each rank keeps the ones that it was built with. `forward_sync_buffers=False` sends them once,
# at construction. Both are `True` unless you say otherwise.
#
# If local batches are small (object detection, video, large images), statistics of 2 or 4 samples
# are too noisy.
# [`SyncBatchNorm`](https://docs.pytorch.org/docs/stable/generated/torch.nn.SyncBatchNorm.html)
# computes them over all ranks' samples, at the price of one more collective for each such layer
# in forward and in backward. One call replaces all BatchNorm layers of a model. It is made
# *before* wrapping:
#
# ```python
# model = nn.SyncBatchNorm.convert_sync_batchnorm(model)   # use what it returns
# ```
#
# The new layers hold the old parameters and buffers. They need a GPU.
#
# ### Exercise 4.3: wrap the model


# %% exercise="4.3" title="Wrap the model"
def wrap_model(
    model: nn.Module, device: torch.device, *, sync_bn: bool = False
) -> DistributedDataParallel:
    """Move a model to this rank's device and wrap it in DistributedDataParallel.

    Every rank calls this function, with an initialised process group.

    Args:
        model: The model, on any device. It is this model that is wrapped, not a copy of it: the
            wrapper's parameters are the very Parameter objects of `model`.
        device: torch.device("cpu"), or this rank's GPU such as torch.device("cuda", 1). Its index
            need not be the rank.
        sync_bn: Replace the model's BatchNorm layers by SyncBatchNorm before wrapping it. If it is
            False, they stay as they are.

    Returns:
        The wrapper. On an accelerator, its device_ids name the device (or are left out); on the
        CPU there are none.

    Raises:
        ValueError: If sync_bn is set, device is the CPU and the model has BatchNorm layers:
            SyncBatchNorm works on GPUs only. (DistributedDataParallel raises it when it finds such
            a layer on the CPU. You need not raise it yourself.)
    """
    raise NotImplementedError("Exercise 4.3: wrap_model is not written yet")


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Three steps: move, convert if asked to, wrap. `model.to(device)` changes the model in place and
# returns it.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Only the value of `device_ids` depends on the device. `device.type` is `"cpu"` on the CPU.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# model = model.to(device)
# if sync_bn:
#     model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
# return DistributedDataParallel(model, device_ids=...)   # None or [device]
# ```
#
# </details>


# %%
def demo_wrap():
    ddp_model = wrap_model(nn.Linear(1, 1, bias=False), device())
    x = torch.full((4, 1), dist.get_rank() + 1.0, device=device())
    ddp_model(x).mean().backward()  # my own gradient would be 1.0 on rank 0 and 2.0 on rank 1
    print(f"gradient {ddp_model.module.weight.grad.item()}")


if __name__ == "__main__":
    show(demo_wrap, ranks=2)

# %% [markdown]
# ```output
# rank 0 | gradient 1.5
# rank 1 | gradient 1.5
# ```

# %% [markdown]
# ### In practice: `device_ids` on the CPU
#
# **What you see.**
#
# ```text
# ValueError: DistributedDataParallel device_ids and output_device arguments only work with
# single-device/multiple-device GPU modules or CPU modules, but got device_ids [0], output_device
# None, and module parameters {device(type='cpu')}.
# ```
#
# **Why.** The model is on the CPU. Either this is what you want, and then there is nothing to pass.
# Or `model.to(device)` is missing.
#
# **What to do.** Pass `device_ids` only on a GPU.
#
# ### In practice: the weights do not move
#
# **What you see.** No error. The loss stays where it is.
#
# **Why.** The optimizer holds other parameters than the model:
#
# ```python
# optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# ddp_model = DistributedDataParallel(copy.deepcopy(model))   # a copy, with its own parameters
# ```
#
# **What to do.** Make the optimizer last, from `ddp_model.parameters()`.
#
# ### In practice: the ranks built different models
#
# **What you see.** One rank raises an error while constructing DDP, the others wait for it:
#
# ```text
# RuntimeError: [1]: params[0] in this process with sizes [3, 2] appears not to match sizes of the
# same param in process 0.
# ```
#
# or, if the number of parameters differs (also when a layer is frozen on one rank only):
#
# ```text
# RuntimeError: DDP expects same model across all ranks, but Rank 1 has 2 params, while rank 0 has
# inconsistent 4 params.
# ```
#
# **Why.** The model depends on something that each rank finds out for itself: the vocabulary of
# its own part of the data, a random choice, a file that is missing on one machine.
#
# **What to do.** Let rank 0 find it out and send it to the others (lesson 01), then build.

# %% [markdown]
# ## One training step
#
# The training loop is that of one process, with one difference: call the wrapper, `ddp_model(x)`.
# DDP prepares for the backward in its own `forward`. If you call the model inside,
# `ddp_model.module(x)`, DDP never learns about it, and the hooks do nothing:


# %%
def demo_silent_drift():
    model = nn.Linear(1, 1, bias=False).to(device())
    model.weight.data.fill_(1.0)
    ddp_model = DistributedDataParallel(model)
    x = torch.full((4, 1), dist.get_rank() + 1.0, device=device())
    for name, forward in [("ddp_model(x)", ddp_model), ("ddp_model.module(x)", ddp_model.module)]:
        ddp_model.zero_grad()
        forward(x).mean().backward()
        print(f"gradient after {name}: {model.weight.grad.item()}")


if __name__ == "__main__":
    show(demo_silent_drift, ranks=2)

# %% [markdown]
# ```output
# rank 0 | gradient after ddp_model(x): 1.5
# rank 0 | gradient after ddp_model.module(x): 1.0
# rank 1 | gradient after ddp_model(x): 1.5
# rank 1 | gradient after ddp_model.module(x): 2.0
# ```

# %% [markdown]
# No error, no warning: each rank now trains a model of its own, on its own part of the data.
#
# ### Exercise 4.4: a training step


# %% exercise="4.4" title="One training step"
def train_step(
    ddp_model: DistributedDataParallel,
    batch: tuple[torch.Tensor, torch.Tensor],
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> float:
    """Make one optimizer step with the mean gradient of all ranks.

    Every rank calls this function with its own batch; all batches are of equal size. Afterwards
    the weights are equal on all ranks, and are what one process would get from the global batch.

    Args:
        ddp_model: The wrapped model, in training mode.
        batch: This rank's (inputs, targets), on the device of the model.
        optimizer: Holds the model's parameters. Gradients that are still there from earlier do not
            count.
        loss_fn: loss_fn(outputs, targets) is the mean loss over this rank's batch, a tensor
            without dimensions.

    Returns:
        This rank's own loss, before the step, as a Python float.
    """
    raise NotImplementedError("Exercise 4.4: train_step is not written yet")


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Write what you would write for one process. No collective is needed: DDP makes them in forward
# and backward.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Zero the gradients, forward through `ddp_model`, loss, backward, step. Return `loss.item()`.
#
# </details>


# %%
def demo_train():
    torch.manual_seed(0)  # the same data on each rank; each takes its own half of it
    inputs, targets = torch.randn(8, 2), torch.randn(8, 1)
    mine = slice(dist.get_rank(), None, dist.get_world_size())
    batch = inputs[mine].to(device()), targets[mine].to(device())
    ddp_model = wrap_model(nn.Linear(2, 1), device())
    optimizer = torch.optim.SGD(ddp_model.parameters(), lr=0.1)
    losses = [train_step(ddp_model, batch, optimizer, F.mse_loss) for _ in range(5)]
    print(f"my losses {[round(loss, 3) for loss in losses]}")
    print(f"weights {[round(w, 3) for w in ddp_model.module.weight.flatten().tolist()]}")


if __name__ == "__main__":
    show(demo_train, ranks=2)

# %% [markdown]
# ```output
# rank 0 | my losses [0.479, 0.368, 0.307, 0.276, 0.262]
# rank 0 | weights [-0.141, -0.109]
# rank 1 | my losses [1.148, 1.011, 0.91, 0.833, 0.773]
# rank 1 | weights [-0.141, -0.109]
# ```

# %% [markdown]
# The losses differ, for each rank has other samples. The weights are the same.
#
# ### In practice: nobody noticed that the ranks trained alone
#
# **What you see.** Training runs. The results are those of a small batch, for the checkpoint holds
# what one rank has learned from its part of the data.
#
# **Why.** The forward goes past the wrapper: `ddp_model.module(x)`, or some other method of the
# model, as in [this report](https://github.com/moojink/openvla-oft/issues/160). The same happens
# when `forward` is called on the plain `model` that you wrapped.
#
# **What to do.** If training needs another method, call it *inside* the model's `forward`. And
# test it once: after some steps, gather a sum of the weights from all ranks, and compare.
#
# ### In practice: the loss was averaged first
#
# **What you see.** The learning rate has to be multiplied by the number of GPUs to get the old
# results.
#
# **Why.** Someone wrote `dist.all_reduce(loss); loss /= world_size` before `loss.backward()`, to
# log the mean. `all_reduce` works in place, and autograd does not know about it. It only sees the
# division. Every gradient is divided by the world size, then DDP divides again. (PyTorch 2.14
# prints a warning here: `an autograd kernel was not registered ...`.)
#
# **What to do.** Call backward on the local loss. For the log, reduce `loss.detach().clone()`.
#
# ### In practice: two forwards, two backwards
#
# **What you see.** The ranks drift apart, in a program with two losses.
#
# **Why.** DDP gets ready for *one* backward in each forward. In
#
# ```python
# loss_a = ddp_model(a).sum()
# loss_b = ddp_model(b).sum()
# loss_a.backward()          # averaged
# loss_b.backward()          # not averaged
# ```
#
# the second backward added each rank's own gradient: we saw 2.5 on rank 0 and 3.5 on rank 1.
#
# **What to do.** `(loss_a + loss_b).backward()`, or finish one before you begin the other. Two
# backwards on purpose, to accumulate gradients, are the subject of lesson 08.
#
# (Two forwards and one backward, as for a GAN's discriminator, fail in some versions if the model
# has BatchNorm: `one of the variables needed for gradient computation has been modified by an
# inplace operation`. The second forward overwrites the buffers that the first backward needs, [as
# reported here](https://github.com/pytorch/pytorch/issues/175024). In PyTorch 2.14 it works.
# Else, concatenate both batches and make one forward.)

# %% [markdown]
# ## Local batches of different sizes
#
# The mean of the ranks' gradients is the gradient of the whole batch *if all local batches have
# the same size*. Let rank 0 have three samples and rank 1 only one. In the model from above,
# `w * x`, each sample's gradient is its `x`:


# %%
def demo_bias():
    model = nn.Linear(1, 1, bias=False).to(device())
    ddp_model = DistributedDataParallel(model)
    samples = [[1.0], [1.0], [1.0]] if dist.get_rank() == 0 else [[5.0]]
    ddp_model(torch.tensor(samples, device=device())).mean().backward()
    print(
        f"gradient from DDP {model.weight.grad.item()}, mean of all samples {(1 + 1 + 1 + 5) / 4}"
    )


if __name__ == "__main__":
    show(demo_bias, ranks=2)

# %% [markdown]
# ```output
# rank 0 | gradient from DDP 3.0, mean of all samples 2.0
# rank 1 | gradient from DDP 3.0, mean of all samples 2.0
# ```

# %% [markdown]
# DDP averages 1.0 and 5.0. The lonely sample of rank 1 counts three times as much as each of
# rank 0's. With one smaller batch at the end of an epoch this does little harm. In other cases it
# is in every step: sentences of different lengths whose loss is a mean over *tokens*, detection
# with different numbers of boxes, masks.
#
# The cure: DDP will divide the *sum* of the ranks' gradients by the world size, and you cannot
# change that. But you choose what each rank puts in. If each rank's loss is
#
# $$
# \text{loss}_r = \frac{\text{sum of the losses on rank } r}{\text{number of losses on all ranks}}
# \times \text{world size}
# $$
#
# then the world size cancels out, and the rest is the mean over everything. The number on all
# ranks takes one small `all_reduce`.
#
# A rank may even have nothing in this step. The sum of no losses is 0, its gradient is zero, and
# the rank still takes part in the collectives of backward. (The *mean* of no losses is `nan`.)
#
# ### Exercise 4.5: every sample counts the same


# %% exercise="4.5" title="A loss for uneven batches"
def weighted_loss(losses: torch.Tensor) -> torch.Tensor:
    """Turn the losses of this rank's samples into the loss on which to call backward.

    Every rank calls this function with the losses that its DDP model gave, and then backward() on
    the result. DDP's averaging then gives every rank the gradient of the mean over all elements of
    all ranks, whatever their numbers are.

    Args:
        losses: One loss for each sample (or token: any shape is allowed, each element counts
            once), connected to the model's graph. May be empty on some ranks.

    Returns:
        A tensor without dimensions. Its mean over the ranks is the mean of all elements of all
        ranks. If the losses are empty on *all* ranks, it is 0, and so are the gradients.
    """
    raise NotImplementedError("Exercise 4.5: weighted_loss is not written yet")


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `losses.numel()` counts the elements of any shape. Put it into a tensor on `losses.device`, and
# sum it over the ranks.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `losses.sum()` works for empty tensors, and stays connected to the graph. Do not reduce the
# losses themselves: DDP does this with their gradients.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# count = torch.tensor(losses.numel(), device=losses.device)
# dist.all_reduce(count)
# ```
#
# Then it is `losses.sum() * world_size / count`, where `count.clamp(min=1)` avoids 0 / 0.
#
# </details>


# %%
def demo_weighted():
    model = nn.Linear(1, 1, bias=False).to(device())
    ddp_model = DistributedDataParallel(model)
    samples = [[1.0], [1.0], [1.0]] if dist.get_rank() == 0 else [[5.0]]
    losses = ddp_model(torch.tensor(samples, device=device())).flatten()
    weighted_loss(losses).backward()
    print(f"gradient {model.weight.grad.item()}")


if __name__ == "__main__":
    show(demo_weighted, ranks=2)

# %% [markdown]
# ```output
# rank 0 | gradient 2.0
# rank 1 | gradient 2.0
# ```

# %% [markdown]
# ### In practice: language models and padded tokens
#
# **What you see.** The loss curve of a run on 8 GPUs differs from that on one GPU, with the same
# global batch and the same seed.
#
# **Why.** Each rank divides by its own number of unpadded tokens. Widely used training libraries
# did so ([a report](https://github.com/huggingface/transformers/issues/34242)).
#
# **What to do.** Count the tokens of all ranks, and divide by that.

# %% [markdown]
# ## Reaching the model inside
#
# The wrapper knows `forward` and little else:
#
# ```text
# AttributeError: 'DistributedDataParallel' object has no attribute 'features'
# ```
#
# Your own methods and attributes are those of the model inside, **`ddp_model.module`**. The names
# in `ddp_model.state_dict()` begin with `module.` for the same reason, which lesson 06 treats.
#
# `ddp_model.module` is also right where only *some* ranks compute something, outside of training:
# rank 0 draws a few samples, or looks at features. It makes no collective. The wrapper would: if
# the model has buffers, its forward sends them from rank 0 to the others, even in `eval()` mode
# and under `no_grad()`.
#
# ```mermaid
# flowchart TB
#     subgraph D["ddp_model: hooks, buckets, buffers"]
#         M["ddp_model.module: your model"]
#     end
#     T["training: all ranks"] -- "ddp_model(x)" --> D
#     X["features, samples, your methods:<br/>any rank, no gradient"] -- "ddp_model.module.features(x)" --> M
# ```
#
# ### Exercise 4.6: extract features


# %% exercise="4.6" title="Extract features"
def extract_features(ddp_model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Compute `features(x)` with the model inside the wrapper, for looking at, not for training.

    Any rank may call this alone, between two training steps, while the others do something else.

    Args:
        ddp_model: A DistributedDataParallel whose model has a method `features(x)`; or that model
            itself, not wrapped.
        x: Inputs on the model's device.

    Returns:
        The features, computed in evaluation mode (no dropout; BatchNorm uses its running statistics
        and does not change them) and without a graph: requires_grad is False.

    Afterwards each submodule is in the mode that it was in before, training or evaluation. A
    BatchNorm layer that was in evaluation mode while the rest trains is so again.
    """
    raise NotImplementedError("Exercise 4.6: extract_features is not written yet")


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# First find the model: `ddp_model.module` if `ddp_model` is a `DistributedDataParallel`, else
# `ddp_model` itself. Then `model.eval()`, and `model.features(x)` under `torch.no_grad()`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `model.train()` would put *all* submodules into training mode. So note the mode of each one
# before `eval()`: `{module: module.training for module in model.modules()}`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Put the modes back in a `finally` block:
#
# ```python
# for module, mode in training.items():
#     module.training = mode
# ```
#
# </details>


# %%
class SmallNet(nn.Module):
    """Two layers, with the first one's output as features."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Dropout())
        self.head = nn.Linear(3, 1)

    def features(self, x):
        return self.body(x)

    def forward(self, x):
        return self.head(self.features(x))


def demo_features():
    ddp_model = DistributedDataParallel(SmallNet().to(device()))
    if dist.get_rank() == 0:  # this rank alone
        x = torch.ones(4, 2, device=device())
        features = extract_features(ddp_model, x)
        print(f"features {list(features.shape)}, training again: {ddp_model.module.training}")


if __name__ == "__main__":
    show(demo_features, ranks=2)

# %% [markdown]
# ```output
# rank 0 | features [4, 3], training again: True
# ```

# %% [markdown]
# ### In practice: validation on rank 0 hangs
#
# **What you see.** The first epoch ends, then silence.
#
# **Why.** `if rank == 0: validate(ddp_model)`. The model has a BatchNorm layer, so rank 0's forward
# sends buffers that nobody receives. Without buffers the same code works, until someone adds a
# BatchNorm.
#
# **What to do.** Call `ddp_model.module` on one rank, or validate on all ranks (lesson 07).

# %% [markdown]
# ## Parameters that are not used
#
# DDP waits for the gradient of *every* parameter that it attached a hook to. A bucket leaves when
# all of its gradients are ready. If the forward goes past a layer, its gradient never comes, and
# its bucket never leaves:


# %%
class TwoBranches(nn.Module):
    """Takes one of two branches, then a common head."""

    def __init__(self):
        super().__init__()
        self.left = nn.Linear(2, 1, bias=False)
        self.right = nn.Linear(2, 1, bias=False)
        self.head = nn.Linear(1, 1, bias=False)

    def forward(self, x, go_left):
        return self.head(self.left(x) if go_left else self.right(x))


def demo_unused():
    ddp_model = DistributedDataParallel(TwoBranches().to(device()))
    for step in (1, 2):
        x = torch.full((1, 2), dist.get_rank() + 1.0, device=device())
        try:
            ddp_model(x, go_left=True).sum().backward()
            print(f"step {step}: no error")
        except RuntimeError as error:
            print(f"step {step}: {str(error).split('.')[0]}. ...")
            print(f"... {[line for line in str(error).splitlines() if 'indices' in line][0]} ...")


if __name__ == "__main__":
    show(demo_unused, ranks=2)

# %% [markdown]
# ```output
# rank 0 | step 1: no error
# rank 0 | step 2: Expected to have finished reduction in the prior iteration before starting a new one. ...
# rank 0 | ... Parameter indices which did not receive grad for rank 0: 1 ...
# rank 1 | step 1: no error
# rank 1 | step 2: Expected to have finished reduction in the prior iteration before starting a new one. ...
# rank 1 | ... Parameter indices which did not receive grad for rank 1: 1 ...
# ```

# %% [markdown]
# Step 1 raises nothing, but its gradients are wrong already: the bucket was not sent, so nothing
# was averaged. DDP notices at the next forward. If *one* rank uses all parameters and another
# does not, the first one waits in backward for a bucket that the other never sends, and the job
# hangs.
#
# The index 1 in the message means the second parameter in `model.parameters()`. To read names, too,
# run with the environment variable `TORCH_DISTRIBUTED_DEBUG=INFO`.
#
# What to do depends on the reason:
#
# | the parameter is unused | remedy |
# |---|---|
# | always, in all steps | remove it, or freeze it *before* wrapping |
# | in some steps | `find_unused_parameters=True` |
# | because an output of the model is not part of the loss | the same, or use the output |
# | always the same ones, and never any change in the graph | `static_graph=True`, which finds them once |
#
# With `find_unused_parameters=True`, DDP walks through the graph from the outputs of each forward,
# to see which parameters will get no gradient. It counts these as ready, with zeros. This is your
# exercise 4.2: the ranks agree on what was used, and a parameter that no rank used keeps
# `.grad = None`. The walk costs time in every step, so it is off unless you ask for it.
#
# ### Exercise 4.7: a branch that is not always taken


# %% exercise="4.7" title="Wrap a model with unused parameters"
def wrap_with_unused(model: nn.Module) -> DistributedDataParallel:
    """Wrap a model some of whose parameters get no gradient in some steps.

    Every rank calls this function, with an initialised process group and the model on its device.
    Training then works, without error or hang, when

    - a branch of the model is skipped on all ranks, or on some ranks only,
    - which branch is skipped changes from step to step,
    - an output of the model takes no part in the loss.

    The gradient of a parameter that only some ranks used is the sum over these ranks divided by the
    world size, on all ranks. That of a parameter that no rank used is None or zero. No parameter
    that is trainable now is frozen, and none is left out of the averaging.

    Returns:
        The wrapper.
    """
    raise NotImplementedError("Exercise 4.7: wrap_with_unused is not written yet")


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# The error message above names the option.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `DistributedDataParallel(model, find_unused_parameters=True)`. Without `device_ids`, this works
# for a model on the CPU and on a GPU. `static_graph=True` promises something else: that the same
# parameters are used in each step.
#
# </details>


# %%
def demo_unused_found():
    ddp_model = wrap_with_unused(TwoBranches().to(device()))
    for parameter in ddp_model.parameters():
        parameter.data.fill_(1.0)
    x = torch.full((1, 2), dist.get_rank() + 1.0, device=device())
    ways = [("left on rank 0, right on rank 1", dist.get_rank() == 0), ("left on both", True)]
    for name, go_left in ways:
        ddp_model.zero_grad()
        ddp_model(x, go_left).sum().backward()
        left, right = (
            None if branch.weight.grad is None else branch.weight.grad[0].tolist()
            for branch in (ddp_model.module.left, ddp_model.module.right)
        )
        print(f"{name}: gradients {left} and {right}")


if __name__ == "__main__":
    show(demo_unused_found, ranks=2)

# %% [markdown]
# ```output
# rank 0 | left on rank 0, right on rank 1: gradients [0.5, 0.5] and [1.0, 1.0]
# rank 0 | left on both: gradients [1.5, 1.5] and None
# rank 1 | left on rank 0, right on rank 1: gradients [0.5, 0.5] and [1.0, 1.0]
# rank 1 | left on both: gradients [1.5, 1.5] and None
# ```

# %% [markdown]
# ### In practice: frozen too late
#
# **What you see.** Fine-tuning. `Expected to have finished reduction in the prior iteration` in the
# second step, although every layer is used.
#
# **Why.** `model.backbone.requires_grad_(False)` stands after the wrapping. DDP still waits for
# these gradients.
#
# **What to do.** Freeze, then wrap. To unfreeze in the middle of training, wrap anew. The flag
# would silence the error, and you would pay for a walk through the graph in each step.
#
# ### In practice: different gradients, no error
#
# **What you see.** A test with a single step: gradients differ between ranks
# ([a report](https://github.com/pytorch/pytorch/issues/112152)).
#
# **Why.** One layer of the model is not used in forward. As we saw above, the error comes only with
# the second step.
#
# **What to do.** Test with at least two steps.

# %% [markdown]
# ## Ranks with different numbers of batches
#
# Every backward of DDP holds collectives. If rank 0 has two batches and rank 1 has three, rank 1
# waits in its third backward, forever. (`DistributedSampler` in lesson 03 avoids this by padding.
# But data may come from a stream, or from files of different lengths.)
#
# [`Join`](https://docs.pytorch.org/docs/stable/distributed.algorithms.join.html) solves it. The
# loop stands inside `with Join([ddp_model]):`. A rank that leaves its loop reaches the end of the
# `with`, and stays there. It takes part in the collectives of those who are still training, with
# zeros for gradients. When all ranks have finished, it copies the final model from a rank that
# was among the last to all others.
#
# ```mermaid
# sequenceDiagram
#     participant R0 as rank 0 (1 batch)
#     participant R1 as rank 1 (2 batches)
#     R0->>R1: step 1: (g0 + g1) / 2
#     Note over R0: loop ends, waits in Join
#     R0->>R1: step 2: (0 + g1) / 2
#     Note over R1: loop ends
#     R1->>R0: final model
# ```
#
# The divisor stays the world size: a batch that comes late weighs as much as any other.
# (`Join([ddp_model], divide_by_initial_world_size=False)` divides by the number of ranks that still
# train.)
#
# ### Exercise 4.8: uneven numbers of batches


# %% exercise="4.8" title="Train with uneven numbers of batches"
def train_uneven(
    ddp_model: DistributedDataParallel,
    batches: Iterable[tuple[torch.Tensor, torch.Tensor]],
    *,
    lr: float = 0.1,
) -> list[float]:
    """Train on all batches of all ranks, though ranks have different numbers of them.

    Plain SGD (torch.optim.SGD without momentum) on the mean squared error, one step for each batch.
    In step k, the gradients of the ranks that have a k-th batch are added up and divided by the
    world size. Every rank calls this function. Nobody hangs, no batch is left out or used twice.
    Afterwards the parameters are equal on all ranks.

    Args:
        ddp_model: The wrapped model.
        batches: This rank's (inputs, targets) on the device of the model. Any iterable: it may be a
            generator without a length. Some ranks may have none.
        lr: The learning rate.

    Returns:
        This rank's own losses before each step, one float for each of its batches.
    """
    raise NotImplementedError("Exercise 4.8: train_uneven is not written yet")


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# Write the loop as if all ranks had equally many batches. Your `train_step` does the work of one.
# Then put the whole loop into the context.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The `with` stands around the loop, not inside it. A rank without batches enters and leaves it,
# too. The optimizer can be made before.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# ```python
# optimizer = torch.optim.SGD(ddp_model.parameters(), lr=lr)
# losses = []
# with Join([ddp_model]):
#     for batch in batches:
#         losses.append(train_step(ddp_model, batch, optimizer, F.mse_loss))
# return losses
# ```
#
# </details>


# %%
def demo_uneven():
    ddp_model = DistributedDataParallel(nn.Linear(1, 1, bias=False).to(device()))
    ddp_model.module.weight.data.fill_(1.0)
    batch = torch.ones(4, 1, device=device()), torch.zeros(4, 1, device=device())
    losses = train_uneven(ddp_model, [batch] * (2 * dist.get_rank()))  # 0, 2 and 4 batches
    weight = ddp_model.module.weight.item()
    print(f"{len(losses)} batches, weight {weight:.3f}")


if __name__ == "__main__":
    show(demo_uneven, ranks=3)

# %% [markdown]
# ```output
# rank 0 | 0 batches, weight 0.654
# rank 1 | 2 batches, weight 0.654
# rank 2 | 4 batches, weight 0.654
# ```

# %% [markdown]
# ### In practice: after Join, the ranks drift apart
#
# `Join` makes the *model* equal at the end. The optimizer's state is not part of the model. A
# rank that left its loop early made fewer steps, so its momentum is another one. Here are two
# epochs with momentum: an uneven one under `Join`, then an even one without.


# %%
def demo_momentum_drift():
    ddp_model = DistributedDataParallel(nn.Linear(1, 1, bias=False).to(device()))
    ddp_model.module.weight.data.fill_(1.0)
    optimizer = torch.optim.SGD(ddp_model.parameters(), lr=0.1, momentum=0.9)

    def epoch(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            ddp_model(torch.ones(1, 1, device=device())).sum().backward()
            optimizer.step()

    with Join([ddp_model]):
        epoch(2 if dist.get_rank() == 0 else 4)
    print(f"after the uneven epoch: weight {ddp_model.module.weight.item():.3f}")
    epoch(2)
    print(f"after the even epoch:   weight {ddp_model.module.weight.item():.3f}")


if __name__ == "__main__":
    show(demo_momentum_drift, ranks=2)

# %% [markdown]
# ```output
# rank 0 | after the uneven epoch: weight 0.240
# rank 0 | after the even epoch:   weight -0.375
# rank 1 | after the uneven epoch: weight 0.240
# rank 1 | after the even epoch:   weight -0.476
# ```

# %% [markdown]
# **What you see.** Nothing, until you compare the ranks.
#
# **Why.** Same weights, same gradient, but another optimizer state. The plan from the start of this
# lesson needs all three.
#
# **What to do.** Use `Join` where training ends after it, or with plain SGD. Else send the
# optimizer's state from one rank to all after it. Or avoid the problem: stop all ranks when the
# first one runs out of batches, or let the sampler deal out equal numbers.
#
# ### In practice: Join and other collectives
#
# **What you see.** A hang under `Join`, in a model with SyncBatchNorm, or in a loop that calls
# `dist.all_reduce` to log the loss.
#
# **Why.** `Join` imitates the collectives of DDP. It knows nothing of others.
#
# **What to do.** `Join([ddp_model], throw_on_early_termination=True)` ends the loop on all ranks
# as soon as one of them runs out. That rank raises `RuntimeError: Rank 0 exhausted all inputs.`,
# the others `RuntimeError: Detected at least one rank that exhausted inputs. Throwing across all
# ranks.` Catch it, and go on to the next epoch.

# %% [markdown]
# ## Check your understanding
#
# **Question 1.** What does DDP average over the ranks?
#
# - **a)** the gradients, in backward
# - **b)** the weights, in `optimizer.step()`
# - **c)** the loss, in forward
# - **d)** BatchNorm's running statistics, in forward
#
# <details><summary>Answer</summary>
#
# Right: **a**.
#
# - **a)** Hooks on the parameters start an all-reduce for each bucket of gradients while backward
#   runs.
# - **b)** DDP has no part in the step. The weights stay equal because all ranks start alike and
#   take the same steps.
# - **c)** Each rank's loss is its own. If you want to log the mean, reduce it yourself.
# - **d)** They are buffers, and buffers are not averaged. Rank 0's are copied to the others before
#   each forward.
#
# </details>
#
# **Question 2.** The gradient of `w` is the mean of the inputs. What does rank 0 print?
#
# ```python
# model = torch.nn.Linear(1, 1, bias=False)
# ddp_model = torch.nn.parallel.DistributedDataParallel(model)
# x = torch.full((4, 1), float(dist.get_rank()))
# ddp_model(x).mean().backward()
# if dist.get_rank() == 0: print(model.weight.grad.item())
# ```
#
# It runs on 3 ranks.
#
# - **a)** `0.0`
# - **b)** `1.0`
# - **c)** `3.0`
#
# <details><summary>Answer</summary>
#
# Right: **b**.
#
# - **a)** That is rank 0's own gradient. After backward through DDP, `.grad` holds the mean over
#   the ranks.
# - **b)** The ranks' own gradients are 0, 1 and 2, and their mean is 1.
# - **c)** That is the sum. DDP divides by the world size.
#
# </details>
#
# **Question 3.** And what does rank 1 print here?
#
# ```python
# model = torch.nn.Linear(1, 1, bias=False)
# ddp_model = torch.nn.parallel.DistributedDataParallel(model)
# x = torch.full((4, 1), 2.0 * dist.get_rank())
# ddp_model.module(x).mean().backward()
# if dist.get_rank() == 1: print(model.weight.grad.item())
# ```
#
# It runs on 2 ranks.
#
# - **a)** `1.0`
# - **b)** `2.0`
# - **c)** `nothing, it hangs`
#
# <details><summary>Answer</summary>
#
# Right: **b**.
#
# - **a)** That would be the mean of 0 and 2. But the forward went past the wrapper, so DDP was not
#   prepared to average anything.
# - **b)** It is rank 1's own gradient. A forward through `.module` is not synchronised, and there
#   is no error.
# - **c)** No rank makes a collective in this backward, so none waits for another.
#
# </details>
#
# **Question 4.** What does rank 1 print?
#
# ```python
# model = torch.nn.BatchNorm1d(1)
# model.running_mean.fill_(5.0 + dist.get_rank())
# ddp_model = torch.nn.parallel.DistributedDataParallel(model)
# if dist.get_rank() == 1: print(model.running_mean.item())
# ```
#
# It runs on 2 ranks.
#
# - **a)** `6.0`
# - **b)** `5.0`
# - **c)** `5.5`
#
# <details><summary>Answer</summary>
#
# Right: **b**.
#
# - **a)** That was rank 1's own value, before it was wrapped.
# - **b)** The constructor copies parameters and buffers from rank 0, and `running_mean` is a
#   buffer.
# - **c)** The constructor copies rank 0's values, it averages nothing.
#
# </details>
#
# **Question 5.** Rank 0 has 30 samples in this step, rank 1 has 10. Each rank calls backward on the
# mean loss of its own samples. How much does one sample of rank 1 count, compared with one of rank
# 0?
#
# - **a)** as much
# - **b)** three times as much
# - **c)** one third
#
# <details><summary>Answer</summary>
#
# Right: **b**.
#
# - **a)** It would if the batches were of equal size. DDP gives each *rank* the same weight.
# - **b)** Each rank counts one half. A sample counts 1/60 on rank 0 and 1/20 on rank 1.
# - **c)** It is the other way round: fewer samples share the same half.
#
# </details>
#
# **Question 6.** Two ranks start with equal weights and use the same gradients in each step. Rank
# 1's Adam was loaded from a checkpoint, rank 0's is new. Do the weights stay equal?
#
# - **a)** Yes, DDP makes sure of it
# - **b)** Yes, because equal gradients give equal steps
# - **c)** No
#
# <details><summary>Answer</summary>
#
# Right: **c**.
#
# - **a)** DDP averages gradients. It neither looks at optimizers nor at weights after the
#   construction.
# - **b)** Adam's step also depends on its running averages, and these differ.
# - **c)** A step depends on the weights, the gradient and the optimizer's state. All three must be
#   equal.
#
# </details>
#
# **Question 7.** One layer of the model is not used in forward, and `find_unused_parameters` is not
# set. When does DDP raise an error?
#
# - **a)** in the constructor
# - **b)** in the first backward
# - **c)** in the second forward
#
# <details><summary>Answer</summary>
#
# Right: **c**.
#
# - **a)** It does not know yet what forward will use.
# - **b)** The first backward ends quietly. The unfinished bucket was never sent, so the gradients
#   are not averaged.
# - **c)** Only then does DDP see that the reduction of the step before has not finished. A test
#   with one step does not find the mistake.
#
# </details>
#
# **Question 8.** In which order do you fine-tune only the last layer of a model?
#
# - **a)** wrap it in DDP, freeze the other layers, make the optimizer
# - **b)** freeze the other layers, wrap it in DDP, make the optimizer
# - **c)** make the optimizer, wrap a copy of the model, freeze the other layers
#
# <details><summary>Answer</summary>
#
# Right: **b**.
#
# - **a)** DDP has attached its hooks already and waits for the gradients of the frozen layers. The
#   second step raises an error.
# - **b)** DDP only waits for parameters that require a gradient when it is constructed.
# - **c)** The optimizer would hold the parameters of the model that is not trained.
#
# </details>
#
# **Question 9.** 8 GPUs, 4 images on each, plain BatchNorm under DDP. Over how many images does
# BatchNorm compute the mean and variance that it normalises with in training?
#
# - **a)** 4
# - **b)** 32
# - **c)** 4, but those of rank 0
#
# <details><summary>Answer</summary>
#
# Right: **a**.
#
# - **a)** BatchNorm sees its own rank's images only. SyncBatchNorm would use all 32.
# - **b)** DDP does not convert BatchNorm. This takes `SyncBatchNorm.convert_sync_batchnorm`, before
#   wrapping.
# - **c)** Rank 0's *running* statistics are copied to the others. In training, the normalisation
#   uses the rank's own batch.
#
# </details>

# %% [markdown]
# ## Recap
#
# - Equal weights, equal gradients and equal optimizer states give equal weights. That is the whole
#   of data parallelism.
# - DDP copies parameters and buffers from rank 0 **when it is constructed**, buffers again **in
#   each forward**, and averages gradients **in backward**. `optimizer.step()` is local.
# - Hooks start an `all_reduce` for each bucket of gradients while backward still computes.
# - The order: build, freeze, move, convert, wrap, optimizer.
# - Train through `ddp_model(x)`. Everything else goes through `ddp_model.module`.
# - DDP averages over *ranks*. With uneven batches, weigh the loss by the number of samples.
# - Unused in some steps: `find_unused_parameters=True`. Uneven numbers of batches: `Join`.
#
# ### Links
#
# - [DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html),
#   all options
# - [How DDP works inside](https://docs.pytorch.org/docs/stable/notes/ddp.html), from its authors
# - [Join](https://docs.pytorch.org/docs/stable/distributed.algorithms.join.html) and a
#   [tutorial on uneven inputs](https://docs.pytorch.org/tutorials/advanced/generic_join.html)
# - [SyncBatchNorm](https://docs.pytorch.org/docs/stable/generated/torch.nn.SyncBatchNorm.html)
# - [PyTorch Distributed: Experiences on Accelerating Data Parallel
#   Training](https://arxiv.org/abs/2006.15704), the paper on buckets and overlap
#
# Next: lesson 05 starts these programs, with `torchrun` and otherwise.
