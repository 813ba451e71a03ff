"""The short report that a learner sees instead of pytest's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

from ddp_grader.plugin import backends, start_early
from ddp_grader.verdict import NOT_ATTEMPTED, PASSED

_COLOUR = {PASSED: {"green": True}, NOT_ATTEMPTED: {"yellow": True}}


def install(config: pytest.Config) -> None:
    """Replace pytest's terminal report by the course's. Call it from pytest_configure of lessons/conftest.py."""
    start_early()
    config.option.showcapture = "no"
    standard = config.pluginmanager.getplugin("terminalreporter")
    config.pluginmanager.unregister(standard)
    config.pluginmanager.register(GradeReporter(config), "terminalreporter")


class GradeReporter(TerminalReporter):
    """One line an exercise, the message of the first that fails, progress, and the next step."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        self.graded: list[pytest.TestReport] = []
        self._folder = ""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """No header."""
        self._session = session

    def report_collect(self, final: bool = False) -> None:
        """No 'collected 8 items'."""

    def pytest_runtest_logstart(self, nodeid: str, location: tuple) -> None:
        """Nothing before a test."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print an exercise's line as soon as it is graded."""
        if not hasattr(report, "verdict"):
            if report.failed:
                super().pytest_runtest_logreport(report)
            return
        self.graded.append(report)
        self.stats.setdefault("passed" if report.passed else "failed", []).append(report)
        folder = report.nodeid.rsplit("/", 1)[0].split("/")[-1]
        if folder != self._folder:
            self._folder = folder
            self.write_line(f"\nlesson {folder}", bold=True)
        number, title = report.exercise
        status = report.verdict.status
        on = f" [{report.backend}]" if report.backend == "nccl" else ""
        self.write(f"  {number:<5}{title + on:<46} ")
        self.write_line(status, **_COLOUR.get(status, {"red": True}))
        for note in report.notes:
            self.write_line(f"       note: {note}")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Nothing after a test."""

    def pytest_terminal_summary(self) -> None:
        """Only collection errors keep pytest's own form."""
        self.summary_errors()

    def summary_stats(self) -> None:
        """The message of the first exercise that is not right, progress, next step."""
        failed = [report for report in self.graded if report.failed]
        attempted = [report for report in failed if report.verdict.status != NOT_ATTEMPTED]
        shown = attempted if self.config.option.verbose > 0 else attempted[:1]
        for report in shown:
            self._tell(report)
        self._progress(failed, attempted)
        if file := self.config.getoption("--grade-json"):
            Path(file).write_text(json.dumps(self._as_json(), indent=1) + "\n")

    def _tell(self, report: pytest.TestReport) -> None:
        number, title = report.exercise
        self.write_line(f"\n{number} {title}: {report.verdict.status}", bold=True)
        for line in report.verdict.message.splitlines():
            self.write_line("  " + line)
        if self.config.option.verbose > 0 and report.verdict.traceback:
            self.write_line(report.verdict.traceback)

    def _progress(self, failed: list, attempted: list) -> None:
        if not self.graded:
            self.write_line("no exercise was graded: is the path, or -k, right?", yellow=True)
            return
        right = len(self.graded) - len(failed)
        lessons = sorted({report.exercise[0].split(".")[0].zfill(2) for report in self.graded})
        name = f"lesson {lessons[0]}" if len(lessons) == 1 else f"lessons {lessons[0]} to {lessons[-1]}"
        self.write_line(f"\n{name}: {right} of {len(self.graded)} passed", bold=True)
        self.write_line(self._backends_line())
        if failed:
            first = (attempted or failed)[0]
            number, title = first.exercise
            verb = "mend" if attempted else "write"
            path = first.nodeid.rsplit("/", 1)[0]
            folder = self.config.getoption("--submission")
            whose = f" --submission {folder}" if folder else ""
            again = f"pytest {path} -k {number.replace('.', '_')}{whose}"
            self.write_line(f"next: {verb} exercise {number} ({title}), then `{again}`")

    def _backends_line(self) -> str:
        used = backends(self.config)
        graded = " and ".join(name for name in used)
        return f"graded on {graded}" + ("" if "nccl" in used else "; not graded on NCCL")

    def _as_json(self) -> list[dict]:
        return [
            {
                "exercise": report.exercise[0],
                "title": report.exercise[1],
                "backend": report.backend,
                "status": report.verdict.status,
                "message": report.verdict.message,
            }
            for report in self.graded
        ]
