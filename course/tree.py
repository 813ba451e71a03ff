"""Where the files of each lesson are, and which of them may be overwritten."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class CourseError(Exception):
    """Something that the person at the keyboard has to mend; the message is one line."""


@dataclass(frozen=True)
class LessonFiles:
    """The files of one lesson below `root`."""

    root: Path
    number: str
    name: str

    @property
    def solution(self) -> Path:
        """The lesson's source."""
        return self.root / "solutions" / self.number / self.name

    @property
    def questions(self) -> Path:
        """Its check questions; need not exist."""
        return self.solution.with_name("questions.yaml")

    @property
    def stub(self) -> Path:
        """What the learner fills in."""
        return self.root / "lessons" / self.number / self.name

    def show(self, path: Path) -> str:
        """A path as messages name it."""
        return str(path.relative_to(self.root))


def find_lessons(numbers: list[str], root: Path = ROOT) -> list[LessonFiles]:
    """The lessons with the given numbers ("4" means "04"), or all, in order.

    Raises:
        CourseError: If there is no such lesson, or its folder has several scripts.
    """
    found: dict[str, list[str]] = {}
    for script in sorted((root / "solutions").glob("[0-9][0-9]/*.py")):
        found.setdefault(script.parent.name, []).append(script.name)
    wanted = [number.zfill(2) for number in numbers] or list(found)
    for number in wanted:
        if number not in found:
            raise CourseError(f"no lesson {number}. There are: {', '.join(found)}.")
        if len(found[number]) > 1:
            raise CourseError(f"solutions/{number}: {' and '.join(found[number])}. Keep the one lesson there.")
    return [LessonFiles(root, number, found[number][0]) for number in wanted]


def committed(path: Path, root: Path = ROOT) -> str | None:
    """The text of a file at git's HEAD; None outside a checkout or if it is not there."""
    try:
        shown = subprocess.run(["git", "show", f"HEAD:./{path.relative_to(root)}"], cwd=root, capture_output=True)
    except FileNotFoundError:
        return None
    return shown.stdout.decode() if shown.returncode == 0 else None


def write(path: Path, text: str) -> None:
    """Replace a file as a whole, so that an interruption never leaves half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(text.encode())
    temporary.replace(path)


def write_stub(files: LessonFiles, stub: str) -> None:
    """Write a stub and note what was written, so that `is_filled_in` knows it later."""
    write(files.stub, stub)
    write(_note(files), _digest(stub))


def is_filled_in(files: LessonFiles, stub: str) -> bool:
    """Whether the lesson's file holds work that exists nowhere else.

    It does not if it is `stub`, what git has at HEAD, or what `write_stub` wrote last.
    """
    if not files.stub.exists():
        return False
    text = files.stub.read_bytes().decode()
    if text in (stub, committed(files.stub, files.root)):
        return False
    note = _note(files)
    return not note.exists() or note.read_text() != _digest(text)


def _note(files: LessonFiles) -> Path:
    return files.root / "build" / "stubs" / f"{files.number}.sha256"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
