"""A learner's answers survive a build and a pull."""

import subprocess

import pytest

from course.build import build, out_of_date
from course.tree import CourseError, LessonFiles, committed

ANSWER = "    return a + b  # my own\n"
RAISE = '    raise NotImplementedError("Exercise 4.1: add is not written yet")\n'


@pytest.fixture
def git(monkeypatch):
    """A function that runs git in a folder, without the settings of whoever runs the tests."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.org")

    def run(folder, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def upstream(files, git):
    """A repository with the built course."""
    build(files, run=False)
    (files.root / ".gitignore").write_text("build/\n")
    git(files.root, "init", "-q", "-b", "main")
    commit_all(git, files)
    return files


@pytest.fixture
def learner(upstream, git, tmp_path):
    """A clone of it, in which exercise 4.1 has been answered."""
    git(tmp_path, "clone", "-q", str(upstream.root), "learner")
    files = LessonFiles(tmp_path / "learner", upstream.number, upstream.name)
    fill_in(files)
    return files


def commit_all(git, files):
    git(files.root, "add", "-A")
    git(files.root, "commit", "-q", "-m", "change")


def fill_in(files):
    text = files.stub.read_text()
    assert RAISE in text
    files.stub.write_text(text.replace(RAISE, ANSWER))


def edit_solution(files, old="Some text", new="Better text"):
    text = files.solution.read_text()
    assert old in text
    files.solution.write_text(text.replace(old, new))


@pytest.mark.parametrize("saved", ["in the working copy", "in a commit"])
def test_pull(upstream, learner, git, saved):
    if saved == "in a commit":
        commit_all(git, learner)
    edit_solution(upstream)
    edit_solution(upstream, "total = a + b\n    return total", "return b + a")
    build(upstream, run=False)
    commit_all(git, upstream)
    git(learner.root, "pull", "-q", "--rebase", "--autostash")
    expected = upstream.stub.read_text().replace(RAISE, ANSWER)
    assert "Better text" in expected
    assert learner.stub.read_text() == expected
    assert out_of_date(learner, run=False) == (
        [] if saved == "in the working copy" else ["lessons/04/small.py: " + STALE]
    )


STALE = "not what the solution generates"


def test_build_keeps_answers(learner):
    filled_in = learner.stub.read_text()
    with pytest.raises(CourseError) as caught:
        build(learner, run=False)
    assert str(caught.value) == (
        "lessons/04/small.py holds answers that are not committed: kept. "
        "`python -m course build 04 --force` overwrites them."
    )
    edit_solution(learner)
    with pytest.raises(CourseError):
        build(learner, run=False)
    assert learner.stub.read_text() == filled_in
    assert out_of_date(learner, run=False) == []


def test_force(learner, upstream):
    build(learner, run=False, force=True)
    assert learner.stub.read_text() == upstream.stub.read_text()


def test_author_builds_again_and_again_without_a_commit(upstream):
    for number in range(3):
        edit_solution(upstream, "You can add.", f"You can add. {number}")
        assert build(upstream, run=False) == ["lessons/04/small.py"]
    fill_in(upstream)
    with pytest.raises(CourseError, match="kept"):
        build(upstream, run=False)


def test_committed_stub_that_is_stale_is_overwritten(upstream, git, tmp_path):
    edit_solution(upstream)
    commit_all(git, upstream)
    git(tmp_path, "clone", "-q", str(upstream.root), "other")
    other = LessonFiles(tmp_path / "other", upstream.number, upstream.name)
    assert out_of_date(other, run=False) == ["lessons/04/small.py: " + STALE]
    assert build(other, run=False) == ["lessons/04/small.py"]


def test_without_git(files):
    build(files, run=False)
    edit_solution(files)
    build(files, run=False)
    fill_in(files)
    with pytest.raises(CourseError, match="kept"):
        build(files, run=False)
    assert committed(files.stub, files.root) is None


def test_solution_edited_while_its_examples_run(files, monkeypatch):
    def edit_meanwhile(lesson):
        edit_solution(files)
        return lesson.text + "# more\n"

    monkeypatch.setattr("course.outputs.rewrite", edit_meanwhile)
    with pytest.raises(CourseError, match="was edited while its examples ran. Build it again"):
        build(files)
    assert "Better text" in files.solution.read_text()
