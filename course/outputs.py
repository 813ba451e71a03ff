"""Runs a lesson's examples and rewrites the output that the lesson quotes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from course.lesson import Cell, Lesson, LessonError
from course.tree import ROOT

_OUTPUT_CELL = re.compile(r"(`{3,})output\n(.*\n)?\1", re.DOTALL)
TIMEOUT = 180.0


class ExampleError(Exception):
    """An example failed. The message names its cell and ends with what it wrote to stderr."""


def quoted(lesson: Lesson) -> list[tuple[Cell, Cell]]:
    """Each code cell whose output is quoted, with the cell that quotes it.

    Raises:
        LessonError: If a quoting cell does not follow a code cell.
    """
    pairs = []
    for before, cell in zip([None, *lesson.cells], lesson.cells, strict=False):
        if cell.kind == "markdown" and _OUTPUT_CELL.fullmatch(cell.source):
            if before is None or before.kind != "code":
                advice = "Put the code cell that prints it right above"
                raise LessonError(lesson.path, cell.line, "output of no code cell", advice)
            pairs.append((before, cell))
    return pairs


def run(lesson: Lesson, timeout: float = TIMEOUT) -> dict[int, str]:
    """Run the whole lesson as a script, on the CPU; returns {line of code cell: what it printed}.

    Raises:
        ExampleError: If a cell raises, or the lesson takes longer than `timeout` seconds.
    """
    cells = [cell for cell in lesson.cells if cell.kind == "code"]
    lines = lesson.text.split("\n")
    sources = [(cell.line, "\n".join(lines[cell.line : cell.end])) for cell in cells]
    with tempfile.TemporaryDirectory(prefix="course-") as name:
        folder = Path(name)
        (folder / "cells.json").write_text(json.dumps(sources))
        status = _run_script(lesson.path.resolve(), folder, timeout)
        written = [folder / f"{number}.out" for number in range(len(cells))]
        texts = [_tidy(path.read_text(errors="replace")) for path in written if path.exists()]
        if status != 0:
            cell = cells[max(len(texts) - 1, 0)]
            how = f"did not end in {timeout:.0f} s" if status is None else "failed"
            parts = [f"{lesson.path}:{cell.line}: the example {how}.", *texts[-1:]]
            parts.append((folder / "stderr").read_text(errors="replace"))
            raise ExampleError("\n".join(filter(None, parts)).rstrip())
    return {cell.line: text for cell, text in zip(cells, texts, strict=False)}


def _run_script(path: Path, folder: Path, timeout: float) -> int | None:
    """The exit status, or None at the timeout."""
    work = folder / "work"
    work.mkdir()  # the working directory: files that examples write vanish with it
    env = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",  # the same output on every machine
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    }
    with open(folder / "stderr", "wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "course.run_cells", str(path), str(folder)],
            cwd=work,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _tidy(text: str) -> str:
    """Without white space at the ends of lines, which editors remove, and at the end."""
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def rewrite(lesson: Lesson) -> str:
    """The lesson's text with each quoted output replaced by what its code cell prints now.

    Raises:
        ExampleError: If an example fails, or prints nothing where output is quoted.
        LessonError: If a quoted output does not follow a code cell.
    """
    pairs = quoted(lesson)
    if not pairs:
        return lesson.text
    printed = run(lesson)
    lines = lesson.text.split("\n")
    for code, quote in reversed(pairs):
        if not (text := printed.get(code.line)):
            raise ExampleError(
                f"{lesson.path}:{code.line}: prints nothing, but output is quoted under it. "
                "Remove that cell, or call `show`."
            )
        stop = quote.end
        while not lines[stop - 1].strip():
            stop -= 1
        lines[quote.line : stop] = [f"# {line}".rstrip() for line in _block(text).split("\n")]
    return "\n".join(lines)


def stale_lines(lesson: Lesson) -> list[int]:
    """Lines of the cells whose quoted output is not what is printed now."""
    printed = run(lesson) if (pairs := quoted(lesson)) else {}
    return [quote.line for code, quote in pairs if quote.source != _block(printed.get(code.line, ""))]


def _block(text: str) -> str:
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in re.findall(r"```+", text)), 0)
    return f"{fence}output\n{text}\n{fence}"
