"""The trainer as people start it: torchrun, python, the launcher."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from ddp_reference import errors, launch
from ddp_reference.config import Config, check_config, parse_config
from ddp_reference.errors import UserError
from ddp_reference.main import main

ROOT = Path(__file__).parents[2]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
TRAINER = ["-m", "ddp_reference"]
DEADLINE_S = 120  # only reached if something hangs


def clean_environment(**variables):
    ours = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return inherited | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **variables}


def run(*command, **variables):
    return subprocess.run(
        command,
        env=clean_environment(**variables),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )


def test_default_run_on_two_ranks(tmp_path):
    metrics_file = tmp_path / "new" / "metrics.json"
    options = [f"--metrics={metrics_file}", "--device=cpu"]
    result = run(*TORCHRUN, "--nproc-per-node=2", *TRAINER, *options)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    epochs = [line for line in lines if line.startswith("epoch")]
    assert len(epochs) == 15
    assert all(re.search(r"loss \d.*test accuracy +\d.*samples/s$", line) for line in epochs)

    last = re.fullmatch(
        r"test accuracy (\d+\.\d\d) % \((\d+) of 360, exact\) on 2 ranks \(gloo, cpu\) in .* s",
        lines[-1],
    )
    metrics = json.loads(metrics_file.read_text())
    assert float(last[1]) >= 97
    assert int(last[2]) == metrics["test_correct"]
    assert metrics["test_accuracy"] == metrics["test_correct"] / 360
    assert (metrics["world_size"], metrics["backend"]) == (2, "gloo")
    assert metrics["train_samples"] == 15 * (1437 // 64 * 64)
    assert metrics["seconds"] > metrics["train_seconds"] > 0
    assert metrics["samples_per_second"] == metrics["train_samples"] / metrics["train_seconds"]
    assert len(metrics["epochs"]) == 15
    assert metrics["config"]["metrics"] == str(metrics_file)


def train(options):
    main([*options, "--device=cpu"])


@pytest.mark.parametrize("seed", [1, 2])
def test_other_seeds(run_ranks, tmp_path, seed):
    metrics_file = tmp_path / "metrics.json"
    run_ranks(train, 1, [f"--seed={seed}", f"--metrics={metrics_file}"])
    assert json.loads(metrics_file.read_text())["test_accuracy"] >= 0.97


def test_synthetic_images_are_learned(run_ranks, tmp_path):
    metrics_file = tmp_path / "metrics.json"
    options = ["--dataset=synthetic", "--epochs=1", "--batch-size=128"]
    run_ranks(train, 2, [*options, f"--metrics={metrics_file}"])
    metrics = json.loads(metrics_file.read_text())
    assert metrics["test_accuracy"] > 0.9
    assert (metrics["world_size"], metrics["test_samples"]) == (2, 1000)


def test_launcher_on_a_terminal():
    """With a bar, which is drawn while training and removed afterwards."""
    main_end, other_end = pty.openpty()
    environment = clean_environment(TERM="xterm", COLUMNS="100")
    del environment["OMP_NUM_THREADS"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ddp_reference.launch", "--epochs=2", "--device=cpu"],
        env=environment,
        stdout=other_end,
        stderr=other_end,
    )
    os.close(other_end)
    output = b""
    while True:
        try:
            part = os.read(main_end, 65536)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if not part:
            break
        output += part
    assert process.wait(DEADLINE_S) == 0, output.decode()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode()).replace("\r", "\n")
    assert re.search(r"^\$ OMP_NUM_THREADS=\d+ torchrun --standalone --nproc-per-node=2 ", text)
    assert "Setting OMP_NUM_THREADS" not in text
    assert re.search(r"epoch 1/2 ━.* %  loss \d\.\d+  [\d,]+ samples/s", text)
    assert re.search(r"\nepoch 2/2  loss .* test accuracy .* samples/s\n", text)
    assert "on 2 ranks (gloo, cpu)" in text


@pytest.mark.parametrize(("gpus", "options"), [(0, []), (1, ["--device", "cpu"]), (2, []), (8, [])])
def test_launcher_uses_gpus_where_there_are_enough(gpus, options):
    arguments = launch.torchrun_arguments(gpus, ["--epochs", "1"])
    start = ["--standalone", "--nproc-per-node=2", "-m", "ddp_reference"]
    assert arguments == [*start, *options, "--epochs", "1"]


def test_launcher_refuses_before_it_starts_anything(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["launch", "--batch-size=63"])
    monkeypatch.setattr(launch, "torchrun", lambda arguments: pytest.fail("started"))
    with pytest.raises(SystemExit) as leaving:
        launch.main()
    assert leaving.value.code == 1
    said = capsys.readouterr()
    assert said.err.startswith("error: --batch-size is the global batch")
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_a_mistake_is_told_once():
    """Both ranks make it, within the group. What else is printed is torchrun's own report."""
    options = ["--model=resnet19", "--device=cpu"]
    result = run(*TORCHRUN, "--nproc-per-node=2", *TRAINER, *options)
    assert result.returncode == 1
    said = result.stdout + result.stderr
    assert said.count("--model resnet19 is neither cnn nor") == 1, said
    assert "ddp_reference/" not in said  # no traceback through our files
    assert "terminate called" not in said


def leave(option):
    """The exit code of a rank, and what it says."""
    errors.SILENT_RANK_WAITS_S = 0  # there is no torchrun to end rank 1
    # @record warns that its fault handler cannot write to our StringIO.
    warnings.simplefilter("ignore")
    with redirect_stdout(StringIO()) as out, redirect_stderr(out), pytest.raises(SystemExit) as leaving:
        main(["--batch-size=62", option])
    return leaving.value.code, out.getvalue()


@pytest.mark.parametrize(
    ("option", "code", "message"),
    [
        ("--dataset=cifar", 2, "Invalid choice"),
        ("--nonsense=1", 2, "--nonsense"),
        ("--batch-size=63", 1, "63 does not divide by 2; 62 or 64 would"),
    ],
)
def test_a_wrong_command_line_ends_all_ranks(run_ranks, option, code, message):
    (code_0, said_0), (code_1, said_1) = run_ranks(leave, 2, option)
    assert (code_0, code_1) == (code, code)
    assert message in said_0
    assert said_1 == ""


def test_all_wrong_values_are_told_together():
    config = Config(epochs=0, learning_rate=float("nan"), timeout=-1.0, resume=True)
    with pytest.raises(UserError) as caught:
        check_config(config, world_size=1)
    for option in ("--epochs", "--learning-rate", "--timeout", "--resume"):
        assert option in str(caught.value)


@pytest.mark.parametrize(
    ("batch_size", "world_size", "advice"),
    [(64, 3, "63 or 66 would"), (2, 4, "2 does not divide by 4; 4 would")],
)
def test_batch_that_ranks_cannot_share(batch_size, world_size, advice):
    with pytest.raises(UserError, match=advice):
        check_config(Config(batch_size=batch_size), world_size)


@pytest.mark.parametrize("speak", [True, False])
def test_help_comes_from_one_rank(capsys, speak):
    with pytest.raises(SystemExit) as leaving:
        parse_config(["--help"], speak=speak)
    assert leaving.value.code == 0
    assert ("usage: ddp_reference" in capsys.readouterr().out) == speak


def test_a_rank_that_never_comes():
    """Two ranks started by hand, of which one is missing."""
    variables = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    options = ["--timeout=1", "--device=cpu"]
    result = run(sys.executable, *TRAINER, *options, **variables, **address)
    assert result.returncode == 1
    assert "error: rank 0 did not meet all 2 ranks at 127.0.0.1:0 within 1 s" in result.stderr
    assert "Traceback" not in result.stderr


def test_control_c_leaves_no_traceback():
    process = subprocess.Popen(
        [sys.executable, *TRAINER, "--epochs=100000", "--device=cpu"],
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().startswith("epoch")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130
    assert errors == ""
