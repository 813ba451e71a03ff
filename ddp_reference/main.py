"""The whole story of a training run. Every rank runs every line of it."""

import time
from collections.abc import Sequence

import torch
from torch.distributed.elastic.multiprocessing.errors import record

from ddp_reference.checkpoint import load_checkpoint, save_checkpoint
from ddp_reference.config import Config, check_config, parse_config
from ddp_reference.data import load_data, training_batches
from ddp_reference.errors import one_message
from ddp_reference.evaluation import evaluate
from ddp_reference.groups import World, process_group
from ddp_reference.models import build_model
from ddp_reference.optimization import build_optimizer, build_schedule
from ddp_reference.ranks import pick_device, read_ranks
from ddp_reference.report import Progress, report
from ddp_reference.training import train_epoch
from ddp_reference.wrapping import wrap_model


@record  # if a rank raises, torchrun says which was first and why
def main(argv: Sequence[str] | None = None) -> None:
    """Train as the command line says. Raises SystemExit after a mistake that users can correct."""
    with one_message():
        ranks = read_ranks()
        config = parse_config(argv, speak=ranks.local_rank == 0)
        check_config(config, ranks.world_size)
        device = pick_device(ranks, config.device)
        with process_group(ranks, device, config.timeout) as world:
            train(config, world)


def train(config: Config, world: World) -> None:
    """Train, evaluate, save and report. Every rank calls it, within the process group."""
    began = time.perf_counter()
    data = load_data(config.dataset, config.batch_size, world.device)
    steps_per_epoch = len(data.train) // config.batch_size

    channels = len(data.mean)
    model = build_model(config.model, channels, data.classes, config.seed).to(world.device)
    ddp_model = wrap_model(model, world)
    optimizer = build_optimizer(model, config)
    scheduler = build_schedule(optimizer, config, steps_per_epoch)
    # From here on each rank draws random numbers of its own, for instance for dropout.
    torch.manual_seed(config.seed + world.rank)

    first = 0
    if config.resume:
        first = load_checkpoint(config.checkpoint, model, optimizer, scheduler, world)
    score = evaluate(model, data, world)
    trained = []
    total_samples = (config.epochs - first) * steps_per_epoch * config.batch_size
    progress = Progress(world, total_samples)
    with progress.bar:
        for epoch in range(first, config.epochs):
            progress.begin_epoch(epoch + 1, config.epochs)
            batches = training_batches(data, world, config, epoch)
            trained.append(train_epoch(ddp_model, batches, optimizer, scheduler, world, progress))
            score = evaluate(model, data, world)
            if config.checkpoint:
                save_checkpoint(config.checkpoint, model, optimizer, scheduler, epoch + 1, world)
            progress.end_epoch(trained[-1], score)
    report(config, world, trained, score, time.perf_counter() - began)
