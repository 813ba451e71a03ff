"""From the text of a solution to the text of the stub."""

import ast
import difflib
import re

import jupytext
import pytest

from course import questions
from course.lesson import LessonError, parse
from course.stubs import as_comments, make_stub


@pytest.fixture
def stub_cells(make_text):
    """A function from cells to the stub's cells, which must round-trip through jupytext."""

    def convert(cells: str) -> str:
        header = make_text("")
        stub = make_stub(parse(make_text(cells)), [])
        assert stub.startswith(header)
        assert_round_trip(stub)
        return stub.removeprefix(header)

    return convert


def assert_round_trip(stub: str) -> None:
    """Opening and saving the stub in Jupyter changes nothing below the header."""
    ast.parse(stub)
    again = jupytext.writes(jupytext.reads(stub, fmt="py:percent"), fmt="py:percent")
    # jupytext reads a title from either place and writes it first.
    stub = re.sub(r'# %% (exercise=".*?") title="(.*?)"', r"# %% \2 \1", stub)
    assert again.split("# ---\n", 2)[2] == stub.split("# ---\n", 2)[2]


def test_whole_lesson(lesson_text, questions_text):
    stub = make_stub(parse(lesson_text), questions.parse(questions_text))
    assert_round_trip(stub)
    diff = difflib.unified_diff(lesson_text.split("\n"), stub.split("\n"), n=0, lineterm="")
    changes = [line for line in list(diff)[2:] if not line.startswith(("@@", "+#"))]
    assert changes == [
        "-    # BEGIN SOLUTION",
        "-    total = a + b",
        "-    return total",
        "-    # END SOLUTION",
        '+    raise NotImplementedError("Exercise 4.1: add is not written yet")',
        "-        # BEGIN SOLUTION",
        "-        await asyncio.sleep(0)",
        '-        self.n = getattr(self, "n", 0) + 1',
        "-        return self.n",
        "-        # END SOLUTION",
        '+        raise NotImplementedError("Exercise 4.2: Counter.count is not written yet")',
        "-# <!-- questions -->",
    ]


def test_dunder_method_and_nested_block(stub_cells):
    assert (
        stub_cells(
            """\
            # %% exercise="4.1" title="Sampler"
            class UnpaddedSampler:
                def __init__(self, n):
                    self.n = n

                def __iter__(self):
                    for i in self.n:
                        # BEGIN SOLUTION
                        yield i
                        # END SOLUTION
            """
        )
        == """\
# %% exercise="4.1" title="Sampler"
class UnpaddedSampler:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in self.n:
            raise NotImplementedError("Exercise 4.1: UnpaddedSampler.__iter__ is not written yet")
"""
    )


def test_helpers_at_module_level_vanish_without_a_gap(stub_cells):
    assert (
        stub_cells(
            '''\
            # %%
            import os
            # BEGIN SOLUTION
            import bisect
            # END SOLUTION

            # %% exercise="4.1" title="Two"
            # BEGIN SOLUTION
            LIMIT = 3


            def first_helper():
                return LIMIT
            # END SOLUTION


            def one():
                # BEGIN SOLUTION
                return first_helper()
                # END SOLUTION


            # BEGIN SOLUTION
            def second_helper():
                return bisect
            # END SOLUTION


            def two():
                """Doc."""
                # BEGIN SOLUTION
                return second_helper()
                # END SOLUTION


            # BEGIN SOLUTION
            class Last: ...
            # END SOLUTION
            '''
        )
        == '''\
# %%
import os

# %% exercise="4.1" title="Two"
def one():
    raise NotImplementedError("Exercise 4.1: one is not written yet")


def two():
    """Doc."""
    raise NotImplementedError("Exercise 4.1: two is not written yet")
'''
    )


def test_a_cell_of_nothing_but_helpers_vanishes(stub_cells):
    assert (
        stub_cells(
            """\
            # %% [markdown]
            # Text

            # %%
            # BEGIN SOLUTION
            import bisect
            # END SOLUTION

            # %% [markdown]
            # More

            # %%
            # BEGIN SOLUTION
            import heapq
            # END SOLUTION
            """
        )
        == """\
# %% [markdown]
# Text

# %% [markdown]
# More
"""
    )


def test_helper_method_vanishes(stub_cells):
    stub = stub_cells(
        """\
        # %% exercise="4.1" title="Class"
        class A:

            # BEGIN SOLUTION
            def _helper(self):
                return 1
            # END SOLUTION

            def value(self):
                # BEGIN SOLUTION
                return self._helper()
                # END SOLUTION
        """
    )
    assert stub.endswith(
        """\
class A:
    def value(self):
        raise NotImplementedError("Exercise 4.1: A.value is not written yet")
"""
    )


def test_given_code_around_the_solution_stays(stub_cells):
    stub = stub_cells(
        """\
        # %% exercise="4.1" title="Part"
        def part(x):
            y = x + 1  # given

            #  BEGIN   SOLUTION
            if y:
                y = 0
            #END SOLUTION

            return y
        """
    )
    assert stub.endswith(
        """\
    y = x + 1  # given

    raise NotImplementedError("Exercise 4.1: part is not written yet")

    return y
"""
    )


def test_function_in_a_function(stub_cells):
    stub = stub_cells(
        """\
        # %% exercise="4.1" title="Decorator"
        def outer(fn):
            def inner(*args):
                # BEGIN SOLUTION
                return fn(*args)
                # END SOLUTION

            return inner
        """
    )
    assert 'raise NotImplementedError("Exercise 4.1: outer.inner is not written yet")' in stub


def test_markers_in_text_and_strings_are_none(stub_cells):
    cells = '''\
# %% [markdown]
# This is how a solution begins:
# BEGIN SOLUTION

# %%
TEXT = """
# BEGIN SOLUTION
# %%
# END SOLUTION
"""
'''
    assert stub_cells(cells) == cells


def test_other_line_ends_and_trailing_space_stay(make_text):
    text = make_text("# %% [markdown]\n# two spaces at the end  \n#\tform feed \x0c\n\n\n\n")
    assert make_stub(parse(text), []) == text


def test_nothing_of_a_solution_leaks(make_text):
    secret = "s3cr3t"
    text = make_text(
        f'''\
        # %%
        # BEGIN SOLUTION
        import {secret}
        # END SOLUTION

        # %% exercise="4.1" title="One"
        def one():
            """Doc."""
            # BEGIN SOLUTION
            # {secret}
            {secret} = """
        {secret}
            """

            def {secret}(): ...

            return {secret}  # {secret}
            # END SOLUTION


        # %% [markdown]
        # <!-- no questions -->
        '''
    )
    assert secret not in make_stub(parse(text), [])


def test_stub_that_is_not_python(make_text):
    text = make_text(
        """\
        # %% exercise="4.1" title="One"
        def one(x):
            # BEGIN SOLUTION
            if x:
                x += 1
            # END SOLUTION
                x += 2
        """
    )
    with pytest.raises(LessonError, match=r"not Python.*x \+= 2.*whole statements"):
        make_stub(parse(text), [])


def test_questions_need_their_place(make_text, questions_text):
    without = parse(make_text("# %% [markdown]\n# Text\n"))
    with pytest.raises(LessonError, match="0 lines `<!-- questions -->` for 2 questions"):
        make_stub(without, questions.parse(questions_text))
    place = parse(make_text("# %% [markdown]\n# <!-- questions -->\n"))
    with pytest.raises(LessonError, match="1 lines `<!-- questions -->` for 0 questions"):
        make_stub(place, [])


def test_long_lines_fold_without_becoming_lists():
    words = "- " + "word " * 18
    assert as_comments(words + "last") == [f"# {words}last"]
    assert as_comments(words + "word - 1. # > * word last") == [
        f"# {words.rstrip()}",
        "#   word - 1. # > * word last",
    ]
    code = "```python\n" + "x" * 120 + " y\n```"
    assert as_comments(code) == [f"# {line}" for line in code.split("\n")]


def test_questions_stand_after_the_exercises(lesson_text, questions_text):
    header, first, rest = lesson_text.partition("# %% [markdown]\n")
    moved = header + first + "# <!-- questions -->\n#\n" + rest.replace("# <!-- questions -->\n", "")
    with pytest.raises(LessonError, match=":20: questions before an exercise. Move them"):
        make_stub(parse(moved), questions.parse(questions_text))
