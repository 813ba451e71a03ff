import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import TensorDataset

from ddp_reference import evaluation
from ddp_reference.data import Data
from ddp_reference.evaluation import evaluate
from ddp_reference.groups import process_group
from ddp_reference.ranks import read_ranks

CPU = torch.device("cpu")


def some_data(n: int) -> Data:
    generator = torch.Generator().manual_seed(n)
    pixels = torch.randint(256, (n, 1, 3, 3), generator=generator, dtype=torch.uint8)
    images = TensorDataset(pixels, torch.randint(3, (n,), generator=generator))
    mean, std = torch.full((1, 1, 1), 128.0), torch.full((1, 1, 1), 70.0)
    return Data(train=images, test=images, classes=3, mean=mean, std=std)


def some_model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.BatchNorm1d(9), nn.Linear(9, 3))


def evaluate_all(sizes):
    evaluation.BATCH = 4  # several batches, and a last one that is shorter
    with process_group(read_ranks(), CPU, 20) as world:
        model = some_model().train()
        scores = [evaluate(model, some_data(n), world) for n in sizes]
        return [(s.correct, s.samples, s.loss) for s in scores], model.training


@pytest.mark.parametrize("world_size", [1, 3, 4])
def test_exact_for_every_number_of_samples(run_ranks, world_size):
    """From fewer samples than ranks to shares that differ by one."""
    sizes = [1, 2, 3, 5, 8, 17, 101]
    model = some_model().eval()
    expected = []
    for n in sizes:
        data = some_data(n)
        pixels, labels = data.test.tensors
        logits = model(data.normalise(pixels))
        correct = (logits.argmax(1) == labels).sum().item()
        expected.append((correct, n, F.cross_entropy(logits, labels).item()))

    for scores, still_training in run_ranks(evaluate_all, world_size, sizes):
        assert still_training
        for score, right in zip(scores, expected, strict=True):
            assert score[:2] == right[:2]
            assert score[2] == pytest.approx(right[2], rel=1e-5)


def evaluate_with_own_statistics():
    with process_group(read_ranks(), CPU, 20) as world:
        model = some_model()
        model[1].running_mean += world.rank  # as after training on different batches
        score = evaluate(model, some_data(50), world)
        return score.loss, model[1].running_mean


def test_judges_the_model_of_rank_0(run_ranks):
    alone = run_ranks(evaluate_with_own_statistics, 1)[0]
    for loss, running_mean in run_ranks(evaluate_with_own_statistics, 2):
        assert loss == pytest.approx(alone[0], rel=1e-6)
        assert torch.equal(running_mean, alone[1])
