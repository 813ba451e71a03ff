import math
import os

import pytest
import torch

from ddp_reference import training
from ddp_reference.config import Config
from ddp_reference.errors import UserError
from ddp_reference.main import main
from ddp_reference.models import build_model
from ddp_reference.optimization import build_optimizer, build_schedule, warmup_cosine


def train(file, *options):
    main([f"--checkpoint={file}", "--epochs=1", "--batch-size=60", *options])


@pytest.fixture(scope="module")
def weights(run_ranks, tmp_path_factory):
    """weights(world_size, *options) -> the state dict after training."""

    def run(world_size, *options):
        file = tmp_path_factory.mktemp("run") / "state.pt"
        run_ranks(train, world_size, file, *options)
        return torch.load(file, weights_only=True)["model"]

    return run


SGD = ("--optimizer=sgd", "--learning-rate=0.05", "--weight-decay=0.0005")


@pytest.fixture(scope="module")
def weights_of_one(weights):
    return weights(1, *SGD)


@pytest.mark.parametrize("world_size", [2, 3, 4])
def test_ranks_learn_what_one_process_learns(weights, weights_of_one, world_size):
    """23 steps on the same global batches: equal but for the order in which sums are rounded."""
    shared = weights(world_size, *SGD)
    torch.testing.assert_close(shared, weights_of_one, rtol=1e-4, atol=1e-5)


def test_the_seed_matters(weights, weights_of_one):
    other = weights(1, *SGD, "--seed=1")
    assert not torch.allclose(other["0.weight"], weights_of_one["0.weight"], atol=1e-2)


def train_a_torchvision_model(file):
    main(["--model=shufflenet_v2_x0_5", "--epochs=1", "--batch-size=1000", f"--checkpoint={file}"])


def test_torchvision_model_with_buffers(run_ranks, tmp_path):
    run_ranks(train_a_torchvision_model, 2, tmp_path / "state.pt")
    state = torch.load(tmp_path / "state.pt", weights_only=True)["model"]
    assert state["1.conv1.1.num_batches_tracked"] == 1


def fail_on_rank_1():
    def broken(*args, **options):
        raise ValueError("broken on purpose")

    if os.environ["RANK"] == "1":
        training.F.cross_entropy = broken
    try:
        main(["--epochs=1"])
    except Exception as error:
        return type(error).__name__
    return "went on"


def test_a_failure_on_one_rank_ends_the_others(run_ranks):
    alone, failed = run_ranks(fail_on_rank_1, 2)
    assert failed == "ValueError"
    assert alone != "went on"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("resnet19", "neither cnn nor .* such as resnet18 or"),
        ("inception_v3", "neither cnn nor"),  # two outputs
        ("%", "such as resnet18$"),
    ],
)
def test_unknown_model(name, message):
    with pytest.raises(UserError, match=message):
        build_model(name, 1, 10, seed=0)


@pytest.mark.parametrize("channels", [1, 3])
def test_models_take_images_of_the_data_set(channels):
    for name in ("cnn", "squeezenet1_1"):
        model = build_model(name, channels, 7, seed=0)
        assert model(torch.randn(2, channels, 32, 32)).shape == (2, 7)


def test_schedule_rises_and_falls():
    shares = [warmup_cosine(step, 4, 20) for step in range(21)]
    assert shares[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert shares[12] == pytest.approx(0.5 * (1 + math.cos(math.pi / 2)))
    assert shares[4:] == sorted(shares[4:], reverse=True)
    assert min(shares[:20]) > 0
    assert shares[20] == 0


@pytest.mark.parametrize("warmup_epochs", [0.0, 0.5, 99.0])
def test_schedule_with_any_warmup(warmup_epochs):
    model = torch.nn.Linear(1, 1)
    config = Config(epochs=2, warmup_epochs=warmup_epochs, learning_rate=0.3)
    optimizer = build_optimizer(model, config)
    scheduler = build_schedule(optimizer, config, steps_per_epoch=5)
    for _ in range(10):
        assert 0 < optimizer.param_groups[0]["lr"] <= 0.3
        optimizer.step()
        scheduler.step()
