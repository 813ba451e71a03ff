"""The pytest plugin: options, which backends to grade on, the `grade` fixture, and the verdict of each test."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from ddp_grader.client import warm_server
from ddp_grader.environment import gpu_count, nccl_ranks
from ddp_grader.exercises import Grade
from ddp_grader.verdict import GRADER_ERROR, PASSED, GradeEnded, Verdict


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the graders' options."""
    group = parser.getgroup("ddp_grader", "grading of distributed code")
    group.addoption(
        "--backend",
        choices=["auto", "gloo", "nccl"],
        default="auto",
        help="what to grade on (default: auto)",
    )
    group.addoption(
        "--submission",
        metavar="DIR",
        help="grade DIR/NN/name.py instead of the files beside the graders",
    )
    group.addoption("--grade-json", metavar="FILE", help="also write the results to FILE")


def pytest_configure(config: pytest.Config) -> None:
    """Check the options."""
    folder = config.getoption("--submission")
    if folder and not Path(folder).is_dir():
        raise pytest.UsageError(
            f"--submission {folder}: no such folder. Give a copy of lessons/, e.g. --submission solutions"
        )
    if config.getoption("--backend") == "nccl" and not nccl_ranks(2):
        raise pytest.UsageError("--backend nccl: no CUDA GPU here. Use --backend gloo, or auto")


def backends(config: pytest.Config) -> list[str]:
    """The backends that are graded in this session."""
    chosen = config.getoption("--backend")
    if chosen != "auto":
        return [chosen]
    return ["gloo", "nccl"] if gpu_count() else ["gloo"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each exercise's grader once per backend."""
    marker = metafunc.definition.get_closest_marker("exercise")
    if marker and "grade" in metafunc.fixturenames:
        chosen = backends(metafunc.config)
        if not marker.kwargs.get("gpu", True):
            chosen = ["gloo"]
        metafunc.parametrize("grade", chosen, indirect=True)


@pytest.fixture
def grade(request: pytest.FixtureRequest) -> Grade:
    """Grades the submission that belongs to the test file."""
    # assert_close and optimizers import it at first use. Now it costs nothing: the warm server, which
    # we would wait for, is still importing the same on another core.
    importlib.import_module("torch._dynamo")
    return Grade(submission_file(request.config, request.path), request.param)


def submission_file(config: pytest.Config, test_file: Path) -> Path:
    """The learner's file for a grader such as lessons/04/test_ddp_wrapping.py.

    Raises:
        pytest.UsageError: If it does not exist.
    """
    name = test_file.name.removeprefix("test_")
    folder = config.getoption("--submission")
    file = Path(folder).resolve() / test_file.parent.name / name if folder else test_file.parent / name
    if not file.is_file():
        raise pytest.UsageError(f"no file {file}: the submission must hold {file.parent.name}/{file.name}")
    return file


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """Attach the verdict to the report of an exercise."""
    report = yield
    marker = item.get_closest_marker("exercise")
    if marker and (report.when == "call" or report.failed):
        report.exercise = tuple(marker.args)
        report.verdict = _verdict(call, report)
        report.backend = item.callspec.params["grade"] if hasattr(item, "callspec") else ""
        grade = item.funcargs.get("grade") if hasattr(item, "funcargs") else None
        report.notes = grade.notes if grade else []
    return report


def _verdict(call: pytest.CallInfo, report: pytest.TestReport) -> Verdict:
    if call.excinfo is None:
        return Verdict(PASSED)
    error = call.excinfo.value
    if isinstance(error, GradeEnded):
        report.longrepr = f"{error.verdict.status}\n{error.verdict.message}"
        return error.verdict
    if isinstance(error, pytest.UsageError):
        return Verdict(GRADER_ERROR, str(error))
    return Verdict(
        GRADER_ERROR,
        what=f"{type(error).__name__}: {error}",
        cause="the grader itself failed: the answer has a form that it did not expect, or it has a bug",
        next_step="check types and shapes of what your function returns against its docstring",
        traceback=report.longreprtext,
    )


def start_early() -> None:
    """Start the warm server now, so that it imports PyTorch while pytest collects."""
    warm_server()
