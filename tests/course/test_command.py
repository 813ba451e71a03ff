"""python -m course build | check | notebook."""

import functools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import course.__main__ as command
from course.tree import find_lessons


@pytest.fixture
def course(files, monkeypatch):
    """A function that runs the command in the temporary course; returns its exit status."""
    in_tree = functools.partial(find_lessons, root=files.root)
    monkeypatch.setattr(command, "find_lessons", in_tree)
    return lambda *args: command.main(list(args))


def test_build_then_check(course, files, capsys):
    files.solution.write_text(files.solution.read_text().replace("# 2 + 3 is 5", "# 2 + 3 is 4"))
    assert course("check") == 1
    told = capsys.readouterr().out
    assert "solutions/04/small.py:54: quoted output is not what is printed now\n" in told
    assert "lessons/04/small.py: missing\n" in told
    assert told.endswith("Run: python -m course build 04\n")

    assert course("build", "4") == 0
    assert capsys.readouterr().out == ("lesson 04: wrote solutions/04/small.py, lessons/04/small.py\n")
    assert "# 2 + 3 is 5" in files.solution.read_text()
    assert "# 2 + 3 is 5" in files.stub.read_text()
    assert course("check") == 0
    assert course("build") == 0
    assert capsys.readouterr().out.endswith("lesson 04: nothing new\n")


def test_stale_stub(course, files, capsys):
    assert course("build") == 0
    files.solution.write_text(files.solution.read_text().replace("Some text", "Other text"))
    assert course("check", "--no-run") == 1
    assert "lessons/04/small.py: not what the solution generates" in capsys.readouterr().out
    assert course("build", "--no-run") == 0
    assert "Other text" in files.stub.read_text()
    assert course("check", "--no-run") == 0


def test_no_run_runs_nothing(course, files):
    text = files.solution.read_text().replace('print("2 + 3', 'exit("2 + 3')
    files.solution.write_text(text)
    assert course("build", "--no-run") == 0
    assert course("check", "--no-run") == 0
    assert files.solution.read_text() == text
    assert course("build") == 1


def test_errors_are_lines_not_tracebacks(course, files, capsys):
    assert course("build", "5") == 1
    assert capsys.readouterr().err == "no lesson 05. There are: 04.\n"
    text = files.solution.read_text().replace('"04"', '"05"').replace('"4.', '"5.')
    files.solution.write_text(text)
    assert course("build") == 1
    assert "the front matter says lesson 05, the folder says 04" in capsys.readouterr().err
    files.solution.with_name("other.py").write_text("")
    assert course("check") == 1
    assert "other.py and small.py. Keep the one lesson there." in capsys.readouterr().err


def test_one_failing_lesson_does_not_stop_the_others(course, files, capsys):
    other = files.root / "solutions" / "03"
    shutil.copytree(files.solution.parent, other)
    assert course("build", "--no-run") == 1
    assert files.stub.exists()
    assert course("check", "--no-run") == 1
    assert capsys.readouterr().out.endswith("Run: python -m course build 03\n")


def test_notebook(course, files, tmp_path):
    target = tmp_path / "lesson.ipynb"
    assert course("notebook", "4", "-o", str(target)) == 0
    first = target.read_text()
    book = json.loads(first)
    sources = ["".join(cell["source"]) for cell in book["cells"]]
    assert sum("is not written yet" in source for source in sources) == 2
    assert not any("SOLUTION" in source for source in sources)
    assert book["cells"][3]["metadata"]["exercise"] == "4.1"
    assert book["metadata"]["kernelspec"]["name"] == "python3"
    assert not files.stub.exists()
    assert course("notebook", "4", "-o", str(target)) == 0
    assert target.read_text() == first


def test_as_a_program(files):
    shutil.copytree(Path(command.__file__).parent, files.root / "course")
    run = functools.partial(subprocess.run, cwd=files.root, capture_output=True, text=True, check=False)
    done = run([sys.executable, "-m", "course", "build"])
    assert (done.returncode, done.stderr) == (0, "")
    assert run([sys.executable, "-m", "course", "check"]).returncode == 0
