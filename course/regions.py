"""Finds the `# BEGIN SOLUTION` ... `# END SOLUTION` regions of a lesson's source."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass

_MARK = re.compile(r"#\s*(BEGIN|END)\s*SOLUTIONS?\b\s*(.*)", re.IGNORECASE)


class SourceError(Exception):
    """Something is wrong at a line of the source; `advice` says what to do about it."""

    def __init__(self, line: int, problem: str, advice: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem
        self.advice = advice


@dataclass(frozen=True)
class Comment:
    """A comment of the source: its line (from 1), column (from 0), text, and what precedes it."""

    line: int
    column: int
    text: str
    before: str


@dataclass(frozen=True)
class Region:
    """What stands between BEGIN SOLUTION and END SOLUTION.

    Attributes:
        begin: Line of the BEGIN comment, from 1.
        end: Line of the END comment.
        indent: The white space before both.
        function: Qualified name of the function that it is in, e.g. `UnpaddedSampler.__iter__`;
            empty at module or class level.
    """

    begin: int
    end: int
    indent: str
    function: str


def comments(text: str) -> list[Comment]:
    """All comments of valid Python source; text in strings is none."""
    lines = text.split("\n")
    tokens = tokenize.generate_tokens(io.StringIO(text, newline="\n").readline)
    return [
        Comment(*token.start, token.string, lines[token.start[0] - 1][: token.start[1]])
        for token in tokens
        if token.type == tokenize.COMMENT
    ]


def find_regions(tree: ast.Module, marks: Iterable[Comment]) -> list[Region]:
    """The solution regions among the comments of a source, in order.

    Raises:
        SourceError: If they are unbalanced, empty, or do not enclose whole statements.
    """
    regions = []
    opened: Comment | None = None
    for comment in marks:
        match = _MARK.fullmatch(comment.text.rstrip())
        if not match:
            continue
        _check_alone(comment, match)
        if match[1].upper() == "BEGIN":
            if opened:
                raise SourceError(
                    comment.line,
                    f"BEGIN SOLUTION inside the one of line {opened.line}",
                    f"Write END SOLUTION for line {opened.line} first",
                )
            opened = comment
        elif not opened:
            raise SourceError(
                comment.line,
                "END SOLUTION without a BEGIN SOLUTION in this cell",
                "Write `# BEGIN SOLUTION` above the solution",
            )
        else:
            regions.append(_region(tree, opened, comment))
            opened = None
    if opened:
        raise SourceError(
            opened.line,
            "BEGIN SOLUTION without an END SOLUTION in this cell",
            "Write `# END SOLUTION` under the solution",
        )
    return regions


def _check_alone(comment: Comment, match: re.Match) -> None:
    if match[2] or comment.before.strip() or "SOLUTIONS" in comment.text.upper():
        raise SourceError(
            comment.line,
            "a solution marker with something else on its line",
            f"Write `# {match[1].upper()} SOLUTION` on a line of its own",
        )


def _region(tree: ast.Module, begin: Comment, end: Comment) -> Region:
    inside = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and begin.line < node.lineno < end.line]
    if not inside:
        raise SourceError(begin.line, "a solution without a statement", "Write the solution")
    first = min(inside, key=lambda node: (node.lineno, node.col_offset))
    if not begin.column == end.column == first.col_offset:
        raise SourceError(
            begin.line,
            "BEGIN SOLUTION, END SOLUTION and the code between are not indented alike",
            "Indent both comments like the first statement between them",
        )
    if any(node.col_offset < begin.column for node in inside):
        raise SourceError(
            begin.line,
            "a solution that reaches beyond its function",
            "Write END SOLUTION before the function ends",
        )
    return Region(begin.line, end.line, begin.before, _enclosing_function(tree, begin.line))


def _enclosing_function(tree: ast.Module, line: int) -> str:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    around = [
        node for node in ast.walk(tree) if isinstance(node, kinds) and node.lineno < line < (node.end_lineno or 0)
    ]
    if all(isinstance(node, ast.ClassDef) for node in around):
        return ""
    return ".".join(node.name for node in sorted(around, key=lambda node: node.lineno))
