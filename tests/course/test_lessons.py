"""The lessons of this course: stubs, quoted outputs and questions are what their sources say."""

import os
import re
import subprocess
import sys
from collections import Counter

import jupytext
import pytest

from course import lesson, outputs, questions
from course.build import notebook, stub_of
from course.stubs import make_stub
from course.tree import ROOT, committed, find_lessons

LESSONS = [pytest.param(files, id=files.number) for files in find_lessons([])]
PROGRAMS = [
    pytest.param(question, id=f"{files.number}-{question.id}")
    for files in find_lessons([])
    for question in questions.load(files.questions)
    if question.code
]


@pytest.mark.parametrize("files", LESSONS)
def test_committed_stub_is_what_its_solution_generates(files):
    # At HEAD, because the working copy may hold a learner's answers.
    solution = committed(files.solution)
    if solution is None:
        pytest.skip(f"{files.show(files.solution)} is not committed, or this is no git checkout")
    asked = committed(files.questions)
    stub = make_stub(
        lesson.parse(solution, files.solution),
        questions.parse(asked, files.questions) if asked else [],
    )
    assert committed(files.stub) == stub, (
        f"Run `python -m course build {files.number}` and commit {files.show(files.stub)}. "
        "(If you have committed answers of your own there, nothing is wrong.)"
    )


@pytest.mark.parametrize("files", LESSONS)
def test_stub_is_the_solution_without_its_answers(files):
    text = files.solution.read_text()
    without = re.sub(r"(?ms)^ *# BEGIN SOLUTION$.*?^ *# END SOLUTION$", "", text)
    expected = code_lines(without)
    for exercise in lesson.load(files.solution).exercises:
        for function in exercise.functions:
            message = f"Exercise {exercise.id}: {function} is not written yet"
            expected[f'raise NotImplementedError("{message}")'] += 1
    assert code_lines(stub_of(files)) == expected


def code_lines(text: str) -> Counter:
    """How often each line of code occurs."""
    lines = (line.strip() for line in text.split("\n"))
    return Counter(line for line in lines if line and not line.startswith("#"))


@pytest.mark.parametrize("files", LESSONS)
def test_stub_runs_as_a_script(files, tmp_path):
    """No example needs a name that has vanished, and each says what is not written yet."""
    script = tmp_path / files.name
    script.write_text(stub_of(files))
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "is not written yet" in done.stdout


@pytest.mark.parametrize("files", LESSONS[:1])  # ranks from a notebook: one lesson shows it
def test_notebook_runs_in_jupyter(files, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    book = jupytext.reads(notebook(files), fmt="ipynb")
    nbclient.NotebookClient(book, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [out.get("text", "") for cell in book.cells for out in cell.get("outputs", [])]
    assert any("rank 0 | " in text for text in shown)
    assert any("is not written yet" in text for text in shown)


@pytest.mark.parametrize("files", LESSONS)
def test_quoted_output_is_current(files):
    stale = outputs.stale_lines(lesson.load(files.solution))
    assert not stale, f"Lines {stale}. Run `python -m course build {files.number}`"


@pytest.mark.parametrize("question", PROGRAMS)
def test_question_about_output_is_right(question):
    assert questions.run_code(question).strip() == question.printed.strip()
