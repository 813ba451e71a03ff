"""Check questions: validation, rendering, running."""

import pytest

from course import questions
from course.questions import QuestionError, parse, render


def test_load(files):
    first, second = questions.load(files.questions)
    assert (first.id, first.code, first.multiple) == ("sum", None, False)
    assert (second.ranks, second.printed) == (2, "3.0\n3.0\n")
    assert questions.load(files.questions.with_name("none.yaml")) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"5", correct: false', '"5", correct: true', "2 choices are correct.*multiple: true"),
        ("correct: true, why: Count", "correct: false, why: Count", "0 choices are correct"),
        ("correct: true, why: Count", "correct: maybe, why: Count", "true or false, not 'maybe'"),
        (", why: Count.", "", "question 1 .*missing: why"),
        ("why: Count.", 'why: ""', "`why: ` must be text"),
        ('text: "5"', "text: 5", "`text: 5` must be text, put it in quotes"),
        ('text: "5"', 'text: "4"', "two choices say the same"),
        ("id: printed", "id: sum", r"question 2 \(sum\): the id is used twice"),
        ("  ranks: 2\n", "", r"question 2 \(printed\): `code` and `ranks` belong together"),
        ("ranks: 2", "rank: 2", "unknown: rank"),
        ("  question: What is 2 + 2?\n", "", "missing: question"),
        ("ranks: 2", "ranks: 2\n  multiple: true", "`multiple` cannot be"),
        ("- id: sum", "id: sum", "not YAML"),
    ],
)
def test_errors(questions_text, old, new, words):
    assert old in questions_text
    with pytest.raises(QuestionError, match=words) as caught:
        parse(questions_text.replace(old, new), "solutions/04/questions.yaml")
    assert str(caught.value).startswith("solutions/04/questions.yaml: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must be a list"),
        ("a: 1", "must be a list"),
        ("- a", "must have the keys"),
        ("- {id: a, question: b, choices: []}", "at least two choices"),
        ("- {id: a, question: b, choices: null}", "at least two choices"),
    ],
)
def test_not_questions(text, words):
    with pytest.raises(QuestionError, match=words):
        parse(text)


def test_multiple(questions_text):
    text = questions_text.replace("id: sum", "id: sum\n  multiple: true")
    text = text.replace('"5", correct: false', '"5", correct: true')
    assert "Right: **a** and **b**." in render(parse(text))
    text = text.replace("correct: true", "correct: false")
    with pytest.raises(QuestionError, match="no choice is correct"):
        parse(text)


def test_render(questions_text):
    assert (
        render(parse(questions_text))
        == """\
**Question 1.** What is 2 + 2?

- **a)** 4
- **b)** 5

<details><summary>Answer</summary>

Right: **a**.

- **a)** Count.
- **b)** One too many.

</details>

**Question 2.** What does it print?

```python
x = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(x)
print(x.item())
```

It runs on 2 ranks.

- **a)** `3.0`
- **b)**

  ```text
  3.0
  3.0
  ```

<details><summary>Answer</summary>

Right: **b**.

- **a)** Both ranks print.
- **b)** The sum, on both ranks.

</details>"""
    )


def test_run_code(questions_text):
    question = parse(questions_text)[1]
    assert questions.run_code(question).strip() == question.printed.strip()


def test_run_code_that_fails(questions_text):
    from ddp_grader import RanksFailed

    text = questions_text.replace("print(x.item())", "raise ValueError('no such luck')")
    with pytest.raises(RanksFailed, match="no such luck"):
        questions.run_code(parse(text)[1])
