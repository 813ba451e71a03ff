"""Check questions: reads questions.yaml, writes them as Markdown, and runs their programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import yaml


class QuestionError(Exception):
    """A malformed question. The message names the file and the question and says what to do."""


@dataclass(frozen=True)
class Choice:
    """A possible answer; `why` explains why it is right or wrong."""

    text: str
    correct: bool
    why: str


@dataclass(frozen=True)
class Question:
    """A check question.

    Attributes:
        id: Stable: progress is stored under it.
        question: Markdown.
        choices: At least two. Exactly one is correct unless `multiple`.
        code: A program whose output is asked for, or None. `torch`, `dist` and an initialised
            process group are there.
        ranks: The number of ranks that run `code`.
        multiple: Several choices may be correct.
    """

    id: str
    question: str
    choices: tuple[Choice, ...]
    code: str | None = None
    ranks: int | None = None
    multiple: bool = False

    @property
    def printed(self) -> str:
        """What the correct choice says that `code` prints."""
        return next(choice.text for choice in self.choices if choice.correct)


def load(path: Path) -> list[Question]:
    """Read and check questions.yaml; no questions if there is no such file.

    Raises:
        QuestionError: If something is missing, unknown or contradictory.
    """
    return parse(path.read_text(encoding="utf-8"), path) if path.exists() else []


def parse(text: str, path: Path | str = "questions.yaml") -> list[Question]:
    """Check the text of a questions.yaml; `path` is what error messages call it.

    Raises:
        QuestionError: If something is missing, unknown or contradictory.
    """
    try:
        entries = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise QuestionError(f"{path}: not YAML: {error}") from error
    if not isinstance(entries, list):
        raise QuestionError(f"{path}: it must be a list of questions, each with an `id`")
    questions: list[Question] = []
    for number, entry in enumerate(entries, 1):
        name = entry.get("id") if isinstance(entry, dict) else None
        try:
            question = _question(entry)
            if question.id in {other.id for other in questions}:
                raise ValueError("the id is used twice, choose another")
        except (TypeError, ValueError) as error:
            raise QuestionError(f"{path}: question {number} ({name}): {error}") from error
        questions.append(question)
    return questions


def _question(entry: Any) -> Question:
    _check_keys(entry, {"id", "question", "choices"}, {"code", "ranks", "multiple"})
    choices = tuple(_choice(choice) for choice in entry["choices"] or ())
    question = Question(**{**entry, "choices": choices})
    correct = sum(choice.correct for choice in choices)
    if len(choices) < 2:
        raise ValueError("it needs at least two choices")
    if len({choice.text.strip() for choice in choices}) < len(choices):
        raise ValueError("two choices say the same")
    if question.multiple and correct < 1:
        raise ValueError("no choice is correct, say `correct: true` for at least one")
    if not question.multiple and correct != 1:
        raise ValueError(f"{correct} choices are correct, make it one or say `multiple: true`")
    if (question.code is None) != (question.ranks is None):
        raise ValueError("`code` and `ranks` belong together (show other code in the question)")
    if question.code is not None and question.multiple:
        raise ValueError("a program prints one thing, so `multiple` cannot be")
    return question


def _choice(entry: Any) -> Choice:
    _check_keys(entry, {"text", "correct", "why"}, set())
    choice = Choice(**entry)
    if not isinstance(choice.correct, bool):
        raise ValueError(f"`correct` must be true or false, not {choice.correct!r}")
    for name in ("text", "why"):
        if not isinstance(entry[name], str) or not entry[name].strip():
            raise ValueError(f"`{name}: {entry[name]}` must be text, put it in quotes")
    return choice


def _check_keys(entry: Any, required: set[str], optional: set[str]) -> None:
    if not isinstance(entry, dict):
        raise ValueError(f"{entry!r} must have the keys {', '.join(sorted(required))}")
    if missing := sorted(required - entry.keys()):
        raise ValueError(f"missing: {', '.join(missing)}")
    if unknown := sorted(entry.keys() - required - optional):
        raise ValueError(f"unknown: {', '.join(map(str, unknown))}")


def render(questions: list[Question]) -> str:
    """Numbered questions with choices a, b, c and folded answers, as Markdown."""
    return "\n\n".join(_render(number, question) for number, question in enumerate(questions, 1))


def _render(number: int, question: Question) -> str:
    letters = list(zip(ascii_lowercase, question.choices, strict=False))
    parts = [f"**Question {number}.** {question.question.strip()}"]
    if question.multiple:
        parts.append("(More than one answer is right.)")
    if question.code is not None:
        parts.append(f"```python\n{question.code.strip()}\n```")
        parts.append(f"It runs on {question.ranks} rank{'s' if question.ranks != 1 else ''}.")
    parts.append("\n".join(f"- **{letter})**{_text(question, c)}" for letter, c in letters))
    right = " and ".join(f"**{letter}**" for letter, choice in letters if choice.correct)
    parts.append("<details><summary>Answer</summary>")
    parts.append(f"Right: {right}.")
    parts.append("\n".join(f"- **{letter})** {_indent(c.why)}" for letter, c in letters))
    parts.append("</details>")
    return "\n\n".join(parts)


def _text(question: Question, choice: Choice) -> str:
    text = choice.text.strip()
    if question.code is None or "`" in text:
        return f" {_indent(text)}"
    # It is what a program prints: literal, whatever * or _ would mean in Markdown.
    return f"\n\n  ```text\n  {_indent(text)}\n  ```" if "\n" in text else f" `{text}`"


def _indent(text: str) -> str:
    return text.strip().replace("\n", "\n  ")


def run_code(question: Question) -> str:
    """Run the question's program on its ranks; returns what they print, in rank order.

    Raises:
        ddp_grader.RanksFailed: If a rank did not come to its end.
    """
    from ddp_grader import run_ranks  # imports torch; reading and rendering need not wait for it

    run = run_ranks(_run_program, question.ranks, question.code, f"<question {question.id}>")
    run.values  # noqa: B018  raises, with a report, if some rank failed
    return "".join(run.outputs)


def _run_program(code: str, name: str) -> None:
    import torch
    import torch.distributed as dist

    exec(compile(code, name, "exec"), {"__name__": "__main__", "torch": torch, "dist": dist})
