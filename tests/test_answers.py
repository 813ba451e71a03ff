"""Every grader accepts the solution, knows the stub, rejects each wrong answer and accepts each right one."""

import re

import pytest
from answers import LESSONS, ROOT, answers, exercises, submission, verdict

from course.lesson import load
from course.questions import load as load_questions
from course.stubs import make_stub
from ddp_grader.verdict import NOT_ATTEMPTED, PASSED


def _name(answer):
    return f"{answer.lesson}-{answer.path.stem}"


def _each_exercise():
    return [(lesson, number) for lesson in LESSONS for number in exercises(lesson)]


@pytest.mark.parametrize(("lesson", "number"), _each_exercise())
def test_solution_passes(lesson, number):
    (file,) = (ROOT / "solutions" / lesson).glob("*.py")
    result = verdict(file, lesson, number)
    assert result.status == PASSED, result.message


@pytest.mark.parametrize(("lesson", "number"), _each_exercise())
def test_stub_is_not_attempted(lesson, number, tmp_path):
    (solution,) = (ROOT / "solutions" / lesson).glob("*.py")
    stub = tmp_path / solution.name
    stub.write_text(make_stub(load(solution), load_questions(solution.parent / "questions.yaml")))
    result = verdict(stub, lesson, number)
    assert result.status == NOT_ATTEMPTED, result.message
    assert result.what.startswith("Exercise ")


@pytest.mark.parametrize("answer", answers("wrong_answers"), ids=_name)
def test_wrong_answer_is_rejected(answer, tmp_path):
    result = verdict(submission(answer, tmp_path), answer.lesson, answer.exercise)
    assert result.status not in (PASSED, NOT_ATTEMPTED, "grader error")
    message = re.sub(r"\s+", " ", result.message)
    assert answer.header["says"] in message, result.message
    assert result.cause and result.next_step, result.message
    if "verdict" in answer.header:
        assert result.status == answer.header["verdict"], result.message


@pytest.mark.parametrize("answer", answers("right_answers"), ids=_name)
def test_right_answer_is_accepted(answer, tmp_path):
    result = verdict(submission(answer, tmp_path), answer.lesson, answer.exercise)
    assert result.status == PASSED, result.message


@pytest.mark.parametrize("lesson", LESSONS)
def test_enough_answers(lesson):
    count = {kind: sum(a.lesson == lesson for a in answers(kind)) for kind in ("wrong_answers", "right_answers")}
    assert count["wrong_answers"] >= 8 and count["right_answers"] >= 3, count
