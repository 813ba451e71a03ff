"""Builds what comes from a lesson, says what is out of date, and writes notebooks."""

from __future__ import annotations

import jupytext

from course import lesson as lessons
from course import outputs, questions
from course.stubs import make_stub
from course.tree import CourseError, LessonFiles, is_filled_in, write, write_stub


def stub_of(files: LessonFiles, text: str | None = None) -> str:
    """The stub of a lesson whose solution is `text`, or what its file holds."""
    lesson = lessons.load(files.solution) if text is None else lessons.parse(text, files.solution)
    if lesson.front.lesson != files.number:
        raise CourseError(
            f"{files.show(files.solution)}:1: the front matter says lesson {lesson.front.lesson}, "
            f"the folder says {files.number}. Make them the same."
        )
    return make_stub(lesson, questions.load(files.questions))


def build(files: LessonFiles, *, run: bool = True, force: bool = False) -> list[str]:
    """Rewrite the quoted outputs (if `run`) and the stub; returns the files that changed.

    Raises:
        CourseError: If the stub has been filled in and not `force`.
    """
    before = files.solution.read_bytes().decode()
    stub = stub_of(files, before)
    if not force and is_filled_in(files, stub):
        raise CourseError(
            f"{files.show(files.stub)} holds answers that are not committed: kept. "
            f"`python -m course build {files.number} --force` overwrites them."
        )
    changed = []
    if run and (after := outputs.rewrite(lessons.parse(before, files.solution))) != before:
        if files.solution.read_bytes().decode() != before:
            raise CourseError(f"{files.show(files.solution)} was edited while its examples ran. Build it again.")
        write(files.solution, after)
        stub = stub_of(files, after)
        changed.append(files.show(files.solution))
    if not files.stub.exists() or files.stub.read_bytes().decode() != stub:
        changed.append(files.show(files.stub))
    write_stub(files, stub)
    return changed


def out_of_date(files: LessonFiles, *, run: bool = True) -> list[str]:
    """What `build` would change, one line each; answers of a learner's are not counted."""
    lesson = lessons.load(files.solution)
    stub = stub_of(files, lesson.text)
    stale = []
    if run:
        stale += [
            f"{files.show(files.solution)}:{line}: quoted output is not what is printed now"
            for line in outputs.stale_lines(lesson)
        ]
    if not files.stub.exists():
        stale.append(f"{files.show(files.stub)}: missing")
    elif files.stub.read_bytes().decode() != stub and not is_filled_in(files, stub):
        stale.append(f"{files.show(files.stub)}: not what the solution generates")
    return stale


def notebook(files: LessonFiles) -> str:
    """The stub as a Jupyter notebook (the text of an .ipynb file)."""
    book = jupytext.reads(stub_of(files), fmt="py:percent")
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number}"  # random otherwise, and each build would differ
    return jupytext.writes(book, fmt="ipynb")
