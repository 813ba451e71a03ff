"""Reads a lesson (a jupytext py:percent script) into a small typed model and checks its form."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import jupytext

from course.regions import Region, SourceError, comments, find_regions

MARKER = re.compile(r"#\s*%%(%*)(\s.*)?")


class LessonError(Exception):
    """A malformed lesson. The message names file and line and says what to do."""

    def __init__(self, path: Path | str, line: int, problem: str, advice: str) -> None:
        super().__init__(f"{path}:{line}: {problem}. {advice}.")


@dataclass(frozen=True)
class FrontMatter:
    """What the header says under `course`.

    Attributes:
        lesson: Two digits, e.g. "04".
        title: The subject.
        promise: One sentence: what the learner can do afterwards.
        minutes: Keys `reading` and `exercises`.
        needs: Numbers of the lessons that come first.
    """

    lesson: str
    title: str
    promise: str
    minutes: dict[str, int]
    needs: list[str]


@dataclass(frozen=True)
class Cell:
    """A cell. `line` is that of its `# %%` marker, `end` its last one (blank lines included)."""

    kind: str
    source: str
    line: int
    end: int
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Exercise:
    """An exercise: `functions` are the qualified names of those that the learner writes."""

    id: str
    title: str
    functions: tuple[str, ...]
    cell: Cell


@dataclass(frozen=True)
class Lesson:
    """A lesson that has been read and checked. Lines are counted from 1."""

    path: Path
    text: str
    front: FrontMatter
    cells: list[Cell]
    exercises: list[Exercise]
    regions: list[Region]

    def cell_at(self, line: int) -> Cell:
        """The cell that holds a line."""
        return next(cell for cell in self.cells if cell.line <= line <= cell.end)

    def exercise_at(self, line: int) -> Exercise | None:
        """The exercise whose cell holds a line."""
        return next((e for e in self.exercises if e.cell.line <= line <= e.cell.end), None)


def load(path: Path) -> Lesson:
    """Read and check the lesson in a file.

    Raises:
        LessonError: If it is malformed.
    """
    # Not read_text: it would turn other line ends into \n, and the stub must keep every byte.
    return parse(path.read_bytes().decode(), path)


def parse(text: str, path: Path | str = "lesson.py") -> Lesson:
    """Check the text of a lesson; `path` is what error messages call it.

    Raises:
        LessonError: If it is malformed.
    """
    try:
        tree = ast.parse(text)
        all_comments = comments(text)
        notebook = jupytext.reads(text, fmt="py:percent")
        front = _front_matter(notebook.metadata.get("course"))
        cells = _cells(text, notebook, [c.line for c in all_comments if _is_marker(c)])
        regions = []
        for cell in cells:
            if cell.kind == "code":
                inside = [c for c in all_comments if cell.line < c.line <= cell.end]
                regions += find_regions(tree, inside)
        exercises = _exercises(front, cells, regions)
    except SyntaxError as error:
        raise LessonError(path, error.lineno or 1, f"not Python: {error.msg}", "Mend it") from error
    except SourceError as error:
        raise LessonError(path, error.line, error.problem, error.advice) from error
    return Lesson(Path(path), text, front, cells, exercises, regions)


def _front_matter(course: Any) -> FrontMatter:
    advice = "Write lesson, title, promise, minutes and needs as CONTRIBUTING.md shows"
    if not isinstance(course, dict):
        raise SourceError(1, "no front matter: the header has no `course:`", advice)
    names = {f.name for f in fields(FrontMatter)}
    if wrong := sorted(names ^ course.keys()):
        problem = f"front matter with missing or unknown keys: {', '.join(wrong)}"
        raise SourceError(1, problem, advice)
    front = FrontMatter(**course)
    minutes = front.minutes if isinstance(front.minutes, dict) else {}
    checks = {
        "lesson": re.fullmatch(r"\d\d", str(front.lesson)) and isinstance(front.lesson, str),
        "title": front.title and isinstance(front.title, str),
        "promise": front.promise and isinstance(front.promise, str),
        "minutes": minutes.keys() == {"reading", "exercises"}
        and all(isinstance(value, int) for value in minutes.values()),
        "needs": isinstance(front.needs, list) and all(isinstance(n, str) for n in front.needs),
    }
    for name, ok in checks.items():
        if not ok:
            problem = f"front matter with a bad value: {name}: {getattr(front, name)!r}"
            raise SourceError(1, problem, advice)
    return front


def _is_marker(comment) -> bool:
    return comment.column == 0 and MARKER.fullmatch(comment.text) is not None


def _cells(text: str, notebook, marker_lines: list[int]) -> list[Cell]:
    if len(marker_lines) != len(notebook.cells):
        raise SourceError(
            marker_lines[0] if marker_lines else 1,
            f"{len(marker_lines)} cell markers for {len(notebook.cells)} cells",
            "Start every cell, the first one too, with a line `# %%` or `# %% [markdown]`",
        )
    ends = [line - 1 for line in marker_lines[1:]] + [text.count("\n") + 1]
    return [
        Cell(cell.cell_type, cell.source.rstrip("\n"), line, end, dict(cell.metadata))
        for cell, line, end in zip(notebook.cells, marker_lines, ends, strict=True)
    ]


def _exercises(front: FrontMatter, cells: list[Cell], regions: list[Region]) -> list[Exercise]:
    exercises: list[Exercise] = []
    for cell in cells:
        inside = [r.function for r in regions if cell.line < r.begin <= cell.end and r.function]
        if "exercise" in cell.metadata:
            functions = tuple(dict.fromkeys(inside))  # several regions of one function: once
            exercise = Exercise(str(cell.metadata["exercise"]), str(cell.metadata.get("title", "")), functions, cell)
            _check_exercise(exercise, front, exercises)
            exercises.append(exercise)
        elif inside:
            raise SourceError(
                cell.line,
                f"a solution ({inside[0]}) in a cell that is no exercise",
                'Write `# %% exercise="N.M" title="..."` above it',
            )
    return exercises


def _check_exercise(exercise: Exercise, front: FrontMatter, before: list[Exercise]) -> None:
    line = exercise.cell.line
    what = f"exercise {exercise.id}"
    expected = f"{int(front.lesson)}.{len(before) + 1}"
    if not exercise.title:
        raise SourceError(line, f"{what} without a title", 'Write title="..." after its id')
    if not exercise.functions:
        advice = "Put `# BEGIN SOLUTION` and `# END SOLUTION` around a function's body"
        raise SourceError(line, f"{what} without a solution inside a function", advice)
    if exercise.id in {other.id for other in before}:
        raise SourceError(line, f"{what} for the second time", f"Call it {expected}")
    if exercise.id != expected:
        raise SourceError(line, f"{what} where {expected} comes next", "Number them in order")
