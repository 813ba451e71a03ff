"""A small lesson, and a course of that lesson in a temporary folder."""

from pathlib import Path
from textwrap import dedent

import pytest

from course.tree import LessonFiles

HEADER = """\
# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
#   course:
#     lesson: "04"
#     title: A small lesson
#     promise: After this lesson you can add.
#     minutes: {reading: 1, exercises: 2}
#     needs: ["01", "02"]
# ---

"""

BODY = '''\
# %% [markdown]
# # Lesson 04: A small lesson
#
# Some text.

# %%
import asyncio

# %% [markdown]
# ## Sums

# %% exercise="4.1" title="Add"
def add(a: int, b: int) -> int:
    """The sum."""
    # BEGIN SOLUTION
    total = a + b
    return total
    # END SOLUTION


# %% [markdown]
# <details><summary>Hint 1</summary>
#
# It is `+`.
#
# </details>

# %%
def demo_add():
    print("2 + 3 is", add(2, 3))


if __name__ == "__main__":
    demo_add()

# %% [markdown]
# ```output
# 2 + 3 is 5
# ```

# %% exercise="4.2" title="Count later"
class Counter:
    """Counts."""

    async def count(self) -> int:
        """One more each time."""
        # BEGIN SOLUTION
        await asyncio.sleep(0)
        self.n = getattr(self, "n", 0) + 1
        return self.n
        # END SOLUTION


# %% [markdown]
# ## Check questions
#
# <!-- questions -->

# %% [markdown]
# ## Recap
#
# You can add.
'''

QUESTIONS = """\
- id: sum
  question: What is 2 + 2?
  choices:
    - {text: "4", correct: true, why: Count.}
    - {text: "5", correct: false, why: One too many.}
- id: printed
  question: What does it print?
  ranks: 2
  code: |
    x = torch.tensor([dist.get_rank() + 1.0])
    dist.all_reduce(x)
    print(x.item())
  choices:
    - {text: "3.0", correct: false, why: Both ranks print.}
    - text: |
        3.0
        3.0
      correct: true
      why: The sum, on both ranks.
"""


@pytest.fixture
def lesson_text():
    """The text of a correct lesson 04 with two exercises, a quoted output and questions."""
    return HEADER + BODY


@pytest.fixture
def questions_text():
    """Two correct questions; the second asks what a program prints."""
    return QUESTIONS


@pytest.fixture
def make_text():
    """A function from the cells of a lesson 04 to its whole text."""
    return lambda cells: HEADER + dedent(cells)


@pytest.fixture
def files(tmp_path: Path) -> LessonFiles:
    """The files of a course that has nothing but that lesson, not built yet."""
    files = LessonFiles(tmp_path / "repo", "04", "small.py")
    files.solution.parent.mkdir(parents=True)
    files.solution.write_text(HEADER + BODY)
    files.questions.write_text(QUESTIONS)
    return files
