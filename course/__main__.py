"""The command line: python -m course build | check | notebook."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from course.build import build, notebook, out_of_date
from course.lesson import LessonError
from course.outputs import ExampleError
from course.questions import QuestionError
from course.tree import CourseError, find_lessons, write

Numbers = Annotated[list[str], tyro.conf.Positional]


@dataclass
class Build:
    """Run the examples, rewrite their quoted output in solutions/, and generate lessons/.

    Args:
        lessons: Lesson numbers; all if none is given.
        run: Run the examples. --no-run only generates the stubs.
        force: Overwrite stubs that somebody has filled in.
    """

    lessons: Numbers = field(default_factory=list)
    run: bool = True
    force: bool = False

    def __call__(self) -> int:
        """Build lesson by lesson; one that fails does not stop the others."""
        failed = False
        for files in find_lessons(self.lessons):
            try:
                changed = build(files, run=self.run, force=self.force)
            except _ERRORS as error:
                print(error, file=sys.stderr)
                failed = True
            else:
                what = f"wrote {', '.join(changed)}" if changed else "nothing new"
                print(f"lesson {files.number}: {what}")
        return int(failed)


@dataclass
class Check:
    """Say what is out of date; exit status 1 if anything is.

    Args:
        lessons: Lesson numbers; all if none is given.
        run: Run the examples and compare their quoted output.
    """

    lessons: Numbers = field(default_factory=list)
    run: bool = True

    def __call__(self) -> int:
        """Check all lessons, and name the command that mends them."""
        stale: list[str] = []
        numbers = []
        for files in find_lessons(self.lessons):
            try:
                found = out_of_date(files, run=self.run)
            except _ERRORS as error:
                found = [str(error)]
            stale += found
            numbers += [files.number] if found else []
        if not stale:
            print("everything is up to date")
            return 0
        print("\n".join(stale))
        print(f"\nRun: python -m course build {' '.join(numbers)}")
        return 1


@dataclass
class Notebook:
    """Write a lesson's stub as a Jupyter notebook.

    Args:
        lesson: The lesson's number.
        output: The file to write.
    """

    lesson: Annotated[str, tyro.conf.Positional]
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]

    def __call__(self) -> int:
        """Write it."""
        [files] = find_lessons([self.lesson])
        write(self.output, notebook(files))
        return 0


_ERRORS = (CourseError, LessonError, QuestionError, ExampleError)


def main(args: list[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    command = tyro.extras.subcommand_cli_from_dict(
        {"build": Build, "check": Check, "notebook": Notebook}, args=args, prog="python -m course"
    )
    try:
        return command()
    except _ERRORS as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
