import pytest
import torch
from torch.utils.data import DistributedSampler

from ddp_reference.config import Config
from ddp_reference.data import DATASETS, load_data, training_batches
from ddp_reference.errors import UserError
from ddp_reference.groups import World
from ddp_reference.sharding import epoch_order, local_batches, shard

CPU = torch.device("cpu")


@pytest.mark.parametrize("n", [7, 12, 100, 101, 103])
@pytest.mark.parametrize("world_size", [1, 2, 3, 4, 7])
def test_shard_equals_distributed_sampler(n, world_size):
    for rank in range(world_size):
        for seed, epoch in [(0, 0), (0, 3), (5, 1)]:
            sampler = DistributedSampler(range(n), world_size, rank, shuffle=True, seed=seed, drop_last=True)
            sampler.set_epoch(epoch)
            assert shard(epoch_order(n, seed, epoch), rank, world_size).tolist() == list(sampler)


def test_epochs_differ_and_repeat():
    assert epoch_order(100, 0, 1).tolist() == epoch_order(100, 0, 1).tolist()
    assert epoch_order(100, 0, 1).tolist() != epoch_order(100, 0, 2).tolist()


@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_all_ranks_together_see_the_batches_of_one_process(world_size):
    epoch, batch = epoch_order(103, 0, 0), 12
    shares = [local_batches(shard(epoch, rank, world_size), batch // world_size) for rank in range(world_size)]
    steps = [set(torch.cat(parts).tolist()) for parts in zip(*shares, strict=True)]
    assert steps == [set(part.tolist()) for part in epoch[: 103 // batch * batch].split(batch)]


@pytest.mark.parametrize("world_size", [2, 4])
def test_batches_do_not_depend_on_the_number_of_ranks(world_size):
    config = Config()
    data = load_data("digits", config.batch_size, CPU)

    def batches(rank, size):
        return list(training_batches(data, World(rank, size, CPU, "gloo"), config, epoch=1))

    alone = batches(0, 1)
    shares = [batches(rank, world_size) for rank in range(world_size)]
    assert len(alone) == 1437 // 64
    for step, (images, labels) in enumerate(alone):
        for rank, share in enumerate(shares):
            assert torch.equal(share[step][0], images[rank::world_size])
            assert torch.equal(share[step][1], labels[rank::world_size])


@pytest.mark.parametrize(
    ("name", "sizes", "shape"),
    [("digits", (1437, 360), (1, 8, 8)), ("synthetic", (4096, 1000), (3, 32, 32))],
)
def test_data(name, sizes, shape):
    data = load_data(name, 64, CPU)
    assert (len(data.train), len(data.test)) == sizes
    pixels = data.train.tensors[0]
    assert pixels.shape[1:] == shape
    assert pixels.dtype == torch.uint8
    assert data.classes == 10
    normal = data.normalise(pixels)
    assert normal.mean().abs() < 1e-3
    assert (normal.std() - 1).abs() < 1e-2
    # Loaded again, as on another rank or in another run: the same split.
    assert torch.equal(DATASETS[name]()[1].tensors[0], data.test.tensors[0])


def test_no_image_is_in_both_parts():
    data = load_data("digits", 64, CPU)
    train, test = ({tuple(row) for row in part.tensors[0].flatten(1).tolist()} for part in (data.train, data.test))
    assert not train & test


def test_batch_larger_than_the_data_is_refused():
    with pytest.raises(UserError, match="1438 is more than the 1437 training samples of digits"):
        load_data("digits", 1438, CPU)
