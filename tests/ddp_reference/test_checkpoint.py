import os

import pytest
import torch
from torch import nn

from ddp_reference import checkpoint, models
from ddp_reference import main as story
from ddp_reference.checkpoint import load_checkpoint, save_checkpoint, write_atomically
from ddp_reference.errors import UserError
from ddp_reference.groups import process_group
from ddp_reference.ranks import read_ranks

CPU = torch.device("cpu")


def cnn_with_dropout(channels, classes):
    return nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64 * channels, classes))


def train(file, stop_after, *options):
    """Runs the trainer until `stop_after` checkpoints have been saved. Returns the exit code."""
    models.small_cnn = cnn_with_dropout
    saved = []

    def save_and_stop(*args):
        save_checkpoint(*args)
        saved.append(args)
        if len(saved) == stop_after:
            raise KeyboardInterrupt

    story.save_checkpoint = save_and_stop
    try:
        story.main([f"--checkpoint={file}", "--epochs=4", "--resume", *options])
    except SystemExit as leaving:
        return leaving.code
    return 0


def test_interrupted_and_resumed_equals_uninterrupted(run_ranks, tmp_path):
    """Bit for bit, with dropout, which draws other numbers on each rank."""
    world_size = 2
    whole, parts = tmp_path / "whole.pt", tmp_path / "parts.pt"
    assert run_ranks(train, world_size, whole, None) == [0] * world_size
    assert run_ranks(train, world_size, parts, 2) == [130] * world_size
    assert torch.load(parts, weights_only=True)["next_epoch"] == 2
    assert run_ranks(train, world_size, parts, None) == [0] * world_size

    expected, actual = (torch.load(file, weights_only=True) for file in (whole, parts))
    torch.testing.assert_close(actual, expected, rtol=0, atol=0)
    states = [state[0] for state in actual["random"]]
    assert len({bytes(state.numpy()) for state in states}) == world_size


def test_resume_with_another_number_of_ranks(run_ranks, tmp_path):
    file = tmp_path / "state.pt"
    run_ranks(train, 1, file, 2)
    assert run_ranks(train, 2, file, None) == [0, 0]
    assert torch.load(file, weights_only=True)["next_epoch"] == 4


def test_resume_after_the_end_only_reports(run_ranks, tmp_path):
    file = tmp_path / "state.pt"
    run_ranks(train, 1, file, None, "--epochs=1")
    assert run_ranks(train, 1, file, None, "--epochs=1") == [0]


def resume_from(file, model):
    """What each rank is told when it goes on from this file."""
    with process_group(read_ranks(), CPU, 20) as world:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
        try:
            return load_checkpoint(file, model, optimizer, scheduler, world)
        except UserError as error:
            return str(error)


def save_to(file, model):
    """What each rank is told when it saves to this file."""
    with process_group(read_ranks(), CPU, 20) as world:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
        try:
            save_checkpoint(file, model, optimizer, scheduler, 7, world)
        except UserError as error:
            return str(error)
        assert file.exists()  # on every rank, as soon as the call returns


def test_save_and_load(run_ranks, tmp_path):
    file = tmp_path / "new folder" / "state.pt"
    assert run_ranks(save_to, 2, file, nn.Linear(2, 2)) == [None, None]
    assert [path.name for path in file.parent.iterdir()] == ["state.pt"]
    assert set(torch.load(file, weights_only=True)["model"]) == {"weight", "bias"}
    assert run_ranks(resume_from, 3, file, nn.Linear(2, 2)) == [7, 7, 7]


def test_no_file_means_the_beginning(run_ranks, tmp_path):
    assert run_ranks(resume_from, 2, tmp_path / "none.pt", nn.Linear(2, 2)) == [0, 0]


def test_every_rank_learns_that_the_file_cannot_be_written(run_ranks, tmp_path):
    (tmp_path / "file").touch()
    told = run_ranks(save_to, 2, tmp_path / "file" / "state.pt", nn.Linear(2, 2))
    assert told[0] == told[1]
    assert "rank 0: cannot write the checkpoint" in told[0]


def test_damaged_file(run_ranks, tmp_path):
    file = tmp_path / "state.pt"
    run_ranks(save_to, 1, file, nn.Linear(2, 2))
    file.write_bytes(file.read_bytes()[:-200])
    told = run_ranks(resume_from, 2, file, nn.Linear(2, 2))
    assert told[0] == told[1]
    assert f"cannot go on from {file}" in told[0]


def test_file_of_another_model(run_ranks, tmp_path):
    file = tmp_path / "state.pt"
    run_ranks(save_to, 1, file, nn.Linear(2, 2))
    assert "size mismatch for weight" in run_ranks(resume_from, 1, file, nn.Linear(3, 3))[0]


def resume_where_only_rank_0_has_the_file(file):
    return resume_from(file if os.environ["RANK"] == "0" else file.with_name("none"), nn.Linear(2, 2))


def test_file_is_missing_on_another_node(run_ranks, tmp_path):
    file = tmp_path / "state.pt"
    run_ranks(save_to, 1, file, nn.Linear(2, 2))
    told = run_ranks(resume_where_only_rank_0_has_the_file, 2, file)
    assert told[0] == told[1]
    assert told[0].startswith("rank 1: cannot go on from")


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "state.pt"
    write_atomically({"epoch": 1}, file)

    def save_half(state, stream):
        stream.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(checkpoint.torch, "save", save_half)
    with pytest.raises(OSError, match="disk full"):
        write_atomically({"epoch": 2}, file)
    assert torch.load(file, weights_only=True) == {"epoch": 1}
