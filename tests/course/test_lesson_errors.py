"""Malformed lessons: each error names file and line and says what to do."""

import pytest

from course.lesson import LessonError, parse

EXERCISE = """\
# %% exercise="4.1" title="One"
def one():
    "Doc."
    # BEGIN SOLUTION
    return 1
    # END SOLUTION
"""

# What is replaced in EXERCISE, by what, and the line in it and the words of the error.
MISTAKES = {
    "no end": ("    # END SOLUTION\n", "", 4, "BEGIN SOLUTION without an END SOLUTION"),
    "no begin": ("    # BEGIN SOLUTION\n", "", 5, "END SOLUTION without a BEGIN SOLUTION"),
    "begin twice": ("    return", "    # BEGIN SOLUTION\n    return", 5, "inside the one of line"),
    "empty": ("    return 1\n", "", 4, "a solution without a statement"),
    "indentation": ("    # BEGIN", "# BEGIN", 4, "not indented alike"),
    "next function": (
        "    # END",
        "\ndef two():\n    pass\n    # END",
        4,
        "beyond its function",
    ),
    "marker after code": ("return 1", "return 1  # END SOLUTION", 5, "something else on its line"),
    "marker with a word": ("BEGIN SOLUTION", "BEGIN SOLUTION here", 4, "something else on its"),
    "marker in the plural": ("BEGIN SOLUTION", "BEGIN SOLUTIONS", 4, "something else on its line"),
    "no title": (' title="One"', "", 1, 'exercise 4.1 without a title. Write title="..."'),
    "no solution": (
        "    # BEGIN SOLUTION\n    return 1\n    # END SOLUTION",
        "    return 1",
        1,
        "exercise 4.1 without a solution inside a function",
    ),
    "no exercise": (' exercise="4.1" title="One"', "", 1, r"a solution \(one\) in a cell that is"),
    "number": ('"4.1"', '"4.2"', 1, "exercise 4.2 where 4.1 comes next"),
    "lesson": ('"4.1"', '"3.1"', 1, "exercise 3.1 where 4.1 comes next"),
    "python": ("def one():", "def one(:", 2, "not Python"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_exercise(make_text, mistake):
    old, new, line, words = MISTAKES[mistake]
    assert old in EXERCISE
    above = make_text("").count("\n")
    with pytest.raises(LessonError, match=words) as caught:
        parse(make_text("") + EXERCISE.replace(old, new), "solutions/04/x.py")
    assert str(caught.value).startswith(f"solutions/04/x.py:{above + line}: ")


@pytest.mark.parametrize(
    ("second", "words"),
    [("4.1", "exercise 4.1 for the second time. Call it 4.2"), ("4.3", "4.3 where 4.2 comes next")],
)
def test_numbers_of_two_exercises(make_text, second, words):
    text = make_text("") + EXERCISE + "\n\n" + EXERCISE.replace("4.1", second)
    with pytest.raises(LessonError, match=words):
        parse(text)


def test_solution_across_cells(make_text):
    text = make_text("") + EXERCISE.replace("    # END", "\n# %%\n    # END")
    with pytest.raises(LessonError, match="BEGIN SOLUTION without an END SOLUTION in this cell"):
        parse(text)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("#   course:\n", "#   other:\n", "no `course:`"),
        ('lesson: "04"', "lesson: 04", "bad value: lesson: 4"),
        ("#     title: A small lesson\n", "", "missing or unknown keys: title"),
        ("title: A small", "titel: A small", "missing or unknown keys: titel, title"),
        ("reading: 1, ", "", "bad value: minutes"),
        ("reading: 1", "reading: one", "bad value: minutes"),
        ('needs: ["01", "02"]', "needs: 01", "bad value: needs"),
        ("promise: After this lesson you can add.", "promise:", "bad value: promise"),
    ],
)
def test_front_matter(lesson_text, old, new, words):
    assert old in lesson_text
    with pytest.raises(LessonError, match=words) as caught:
        parse(lesson_text.replace(old, new))
    assert str(caught.value).startswith("lesson.py:1: ")


def test_no_header_at_all():
    with pytest.raises(LessonError, match="no front matter"):
        parse("# %%\nprint()\n")


def test_text_before_the_first_cell(make_text):
    with pytest.raises(LessonError, match="Start every cell, the first one too"):
        parse(make_text("import os\n\n# %%\nprint(os)\n"))
