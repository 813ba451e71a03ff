"""What a learner sees, through the real command."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from answers import LESSONS, ROOT

from course.lesson import load
from course.questions import load as load_questions
from course.stubs import make_stub


def grade(*arguments, cwd=ROOT):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


@pytest.fixture
def stubs(tmp_path):
    """A fresh copy of the stubs, so that a learner's own work does not matter."""
    for lesson in LESSONS:
        (solution,) = (ROOT / "solutions" / lesson).glob("*.py")
        file = tmp_path / lesson / solution.name
        file.parent.mkdir()
        file.write_text(make_stub(load(solution), load_questions(solution.parent / "questions.yaml")))
    return tmp_path


def test_stub_says_not_attempted_and_nothing_else(stubs):
    done = grade("lessons/01", "--submission", stubs)
    assert done.returncode == 1
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    assert lines[0] == "lesson 01"
    assert all(line.endswith("not attempted") for line in lines[1:6])
    assert lines[6:8] == ["lesson 01: 0 of 5 passed", "graded on gloo; not graded on NCCL"]
    assert lines[8].startswith("next: write exercise 1.1")
    assert len(lines) == 9
    assert "Traceback" not in done.stdout + done.stderr


def test_solution_and_json(tmp_path):
    done = grade("lessons/01", "--submission", "solutions", "--grade-json", tmp_path / "grades.json")
    assert done.returncode == 0, done.stdout
    results = json.loads((tmp_path / "grades.json").read_text())
    assert [result["exercise"] for result in results] == ["1.1", "1.2", "1.3", "1.4", "1.5"]
    assert {result["status"] for result in results} == {"passed"}
    assert set(results[0]) == {"exercise", "title", "backend", "status", "message"}


def test_one_exercise():
    done = grade("lessons/01", "--submission", "solutions", "-k", "1_2")
    assert "lesson 01: 1 of 1 passed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--submission", "nowhere"], "no such folder"),
        (["--backend", "mpi"], "invalid choice"),
        (["--backend", "nccl"], "no CUDA GPU here"),
    ],
)
def test_bad_options_give_one_clear_message(arguments, message):
    import torch

    if "nccl" in arguments and torch.cuda.is_available():
        pytest.skip("there is a GPU, so NCCL is no mistake here")
    done = grade("lessons/01", *arguments)
    assert done.returncode == 4
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_submission_without_the_lesson_says_so(tmp_path):
    done = grade("lessons/01", "--submission", tmp_path)
    assert done.returncode == 1
    assert "the submission must hold 01/ranks.py" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_when_pytest_is_stopped(stubs, number):
    file = stubs / "01" / "ranks.py"
    file.write_text(file.read_text() + "\n\ndef read_rank_env():\n    while True: pass\n")
    command = [sys.executable, "-m", "pytest", "lessons/01", "--submission", str(stubs), "-k", "1_1"]
    pytest_run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    me = psutil.Process(pytest_run.pid)
    family = _wait_for(lambda: _at_least(2, me.children(recursive=True)))
    os.kill(pytest_run.pid, number)
    pytest_run.wait(timeout=30)
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []


def _at_least(count, processes):
    return processes if len(processes) >= count else None


def _wait_for(look, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def test_eight_gradings_at_once():
    command = [sys.executable, "-m", "pytest", "lessons/01", "--submission", "solutions", "-p", "no:cacheprovider"]
    runs = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    outputs = [run.communicate(timeout=200)[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * 8, "\n".join(outputs)
