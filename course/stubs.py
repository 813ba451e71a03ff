"""Turns the text of a solution into the stub that learners fill in."""

from __future__ import annotations

import ast
import re
import textwrap

from course.lesson import MARKER, Lesson, LessonError
from course.questions import Question, render

_PLACE_OF_QUESTIONS = re.compile(r"#\s*<!--\s*questions\s*-->\s*")


def make_stub(lesson: Lesson, questions: list[Question]) -> str:
    """The stub of a lesson: solutions removed, check questions written out.

    It works on the lines, so that everything else stays as it is, byte for byte.

    Raises:
        LessonError: If the stub would not be valid Python, or the place of the questions is
            missing or without questions.
    """
    lines = lesson.text.split("\n")
    # From the end, so that the line numbers above stay true.
    _insert_questions(lesson, questions, lines)
    for region in reversed(lesson.regions):
        if region.function:
            exercise = lesson.exercise_at(region.begin)
            message = f"Exercise {exercise.id}: {region.function} is not written yet"
            call = f'raise NotImplementedError("{message}")'
            lines[region.begin - 1 : region.end] = [region.indent + call]
        else:
            _remove(lines, region.begin - 1, region.end)
    stub = "\n".join(lines)
    _check_python(lesson, stub)
    return stub


def _insert_questions(lesson: Lesson, questions: list[Question], lines: list[str]) -> None:
    places = [
        number
        for number, line in enumerate(lines)
        if _PLACE_OF_QUESTIONS.fullmatch(line) and lesson.cell_at(number + 1).kind == "markdown"
    ]
    if len(places) != bool(questions):
        raise LessonError(
            lesson.path,
            places[-1] + 1 if places else 1,
            f"{len(places)} lines `<!-- questions -->` for {len(questions)} questions",
            "Write questions.yaml beside the lesson and that line once, in its last cell but one",
        )
    if places and any(region.begin > places[0] for region in lesson.regions):
        raise LessonError(lesson.path, places[0] + 1, "questions before an exercise", "Move them to the end")
    for place in places:
        lines[place : place + 1] = as_comments(render(questions))


def as_comments(markdown: str) -> list[str]:
    """Markdown as the lines of a markdown cell, prose folded to 100 columns."""
    lines = []
    fenced = False
    for line in markdown.split("\n"):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        literal = fenced or fence or line.lstrip().startswith("|")
        lines += [line] if literal or not line else _fold(line)
    return [f"# {line}".rstrip() for line in lines]


def _fold(line: str) -> list[str]:
    indent = re.match(r" *(- )?", line)[0]
    # A line that began with one of these would be a list, a heading or a quote.
    glued = re.sub(r"(?<=\S) (?=([-+*#>=]+|\d+[.)])( |$))", "\0", line)
    folded = textwrap.wrap(
        glued,
        width=98,
        subsequent_indent=" " * len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [part.replace("\0", " ") for part in folded]


def _remove(lines: list[str], start: int, stop: int) -> None:
    """Remove lines[start:stop], and its cell if nothing else is in it."""
    first, last = _without_blank_lines(lines, start, stop)
    before, after = start - first, last - stop
    at_top = MARKER.fullmatch(lines[first - 1]) or lines[first - 1].lstrip().startswith("class ")
    at_end = last == len(lines)
    if MARKER.fullmatch(lines[first - 1]) and (at_end or MARKER.fullmatch(lines[last])):
        _remove(lines, first - 1, stop)
        return
    # The larger gap of the two stays; at_end, the last of `lines` is what follows the last \n.
    gap = 1 if at_end else 0 if at_top else max(before, after)
    lines[first:last] = [""] * gap


def _without_blank_lines(lines: list[str], start: int, stop: int) -> tuple[int, int]:
    while start > 0 and not lines[start - 1].strip():
        start -= 1
    while stop < len(lines) and not lines[stop].strip():
        stop += 1
    return start, stop


def _check_python(lesson: Lesson, stub: str) -> None:
    try:
        ast.parse(stub)
    except SyntaxError as error:
        line = stub.split("\n")[(error.lineno or 1) - 1].strip()
        problem = f"without its solutions it is not Python: {error.msg} at {line!r}"
        advice = "Put whole statements between BEGIN SOLUTION and END SOLUTION"
        raise LessonError(lesson.path, 1, problem, advice) from error
