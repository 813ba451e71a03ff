"""Grades small submissions with one warm server."""

import textwrap

import pytest

from ddp_grader.exercises import Grade
from ddp_grader.verdict import PASSED, GradeEnded, Verdict


def call_solve(lesson):
    return lesson.solve()


@pytest.fixture
def grade_source(tmp_path):
    """Grades source text whose `solve()` is run on two ranks; returns (verdict, notes)."""

    def run(source, timeout=8.0):
        file = tmp_path / "answer.py"
        file.write_text(textwrap.dedent(source))
        grade = Grade(file, "gloo")
        try:
            grade.run(call_solve, timeout=timeout)
        except GradeEnded as ended:
            return ended.verdict, grade.notes
        return Verdict(PASSED), grade.notes

    return run
