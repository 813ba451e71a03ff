"""Quoted outputs: examples are run as a script, and what they print is written under them."""

import os
import time

import pytest

from course import outputs
from course.lesson import LessonError, parse
from course.outputs import ExampleError


@pytest.fixture
def lesson(make_text, tmp_path):
    """A function from cells to a lesson that lies in a file."""

    def make(cells: str):
        path = tmp_path / "lesson.py"
        path.write_text(make_text(cells))
        return parse(path.read_text(), path)

    return make


def test_rewrite_changes_what_is_quoted_and_nothing_else(lesson):
    written = lesson(
        """\
        # %%
        import os

        print("not quoted")

        # %%
        if __name__ == "__main__":
            print("first  ")
            print()
            os.system("echo from another process")
            os.write(1, b"last")


        # %% [markdown]
        # ```output
        # old
        # ```



        # %% [markdown]
        # ```text
        # no output
        # ```

        # %%
        print("second")

        # %% [markdown]
        # ```output
        # second
        # ```
        """
    )
    new = "# first\n#\n# from another process\n# last\n"
    assert outputs.rewrite(written) == written.text.replace("# old\n", new)
    assert outputs.stale_lines(written) == [written.cells[2].line]
    current = lesson(outputs.rewrite(written).split("# ---\n\n")[1])
    assert outputs.rewrite(current) == current.text
    assert outputs.stale_lines(current) == []


def test_empty_block_is_filled(lesson):
    written = lesson("# %%\nprint(1)\n\n# %% [markdown]\n# ```output\n# ```\n")
    assert outputs.rewrite(written).endswith("# ```output\n# 1\n# ```\n")


def test_output_with_a_fence(lesson):
    written = lesson("# %%\nprint('```')\n\n# %% [markdown]\n# ```output\n# ```\n")
    again = outputs.rewrite(written)
    assert again.endswith("# ````output\n# ```\n# ````\n")
    assert outputs.stale_lines(lesson(again.split("# ---\n\n")[1])) == []


def test_cells_see_what_a_script_sees(lesson):
    written = lesson(
        """\
        # %%
        from __future__ import annotations

        import inspect
        import multiprocessing
        import os
        import pickle
        import sys


        def square(x: undefined):
            return x * x

        # %%
        def late(x: undefined): ...

        if __name__ == "__main__":
            print(os.path.basename(__file__), sys.argv == [__file__], os.listdir("."))
            print(sys.path[0] == os.path.dirname(__file__))
            print(os.environ["CUDA_VISIBLE_DEVICES"] == "", sys.stdin.read() == "")
            print(inspect.getsource(late), end="")
            print(pickle.loads(pickle.dumps(square)) is square)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(square, [2, 3]))

        # %% [markdown]
        # ```output
        # ```
        """
    )
    assert outputs.run(written)[written.cells[1].line].split("\n") == [
        "lesson.py True []",
        "True",
        "True True",
        "def late(x: undefined): ...",
        "True",
        "[4, 9]",
    ]


FAILING = """\
# %%
print("fine")

# %%
def broken():
    raise ValueError("no such luck")


print("so far")
{call}

# %% [markdown]
# ```output
# so far
# ```
"""


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("broken()", "ValueError: no such luck"),
        ("import sys; sys.exit('bye')", "SystemExit: bye"),
        ("import os; os._exit(3)", "so far"),
    ],
)
def test_failing_example(lesson, call, told):
    written = lesson(FAILING.format(call=call))
    with pytest.raises(ExampleError, match=told) as caught:
        outputs.rewrite(written)
    place = f"{written.path}:{written.cells[1].line}"
    assert str(caught.value).startswith(f"{place}: the example failed.\nso far")


def test_traceback_has_the_lines_of_the_file(lesson):
    written = lesson(FAILING.format(call="broken()"))
    line = written.text[: written.text.index("    raise")].count("\n") + 1
    with pytest.raises(ExampleError, match=f'File ".*lesson.py", line {line}, in broken'):
        outputs.run(written)


def test_endless_example_is_ended_with_its_children(lesson, tmp_path):
    pid_file = tmp_path / "pid"
    written = lesson(
        f"""\
        # %%
        import subprocess
        child = subprocess.Popen(["sleep", "600"])
        open({str(pid_file)!r}, "w").write(str(child.pid))
        child.wait()
        """
    )
    with pytest.raises(ExampleError, match="did not end in 2 s"):
        outputs.run(written, timeout=2)
    pid = int(pid_file.read_text())
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} is still there")


def test_output_of_nothing(lesson):
    with pytest.raises(LessonError, match="output of no code cell.*right above"):
        outputs.rewrite(lesson("# %% [markdown]\n# Text\n\n# %% [markdown]\n# ```output\n# ```\n"))
    with pytest.raises(ExampleError, match="prints nothing, but output is quoted"):
        outputs.rewrite(lesson("# %%\nx = 1\n\n# %% [markdown]\n# ```output\n# ```\n"))


def test_lesson_without_quotes_is_not_run(lesson):
    written = lesson("# %%\nraise SystemExit(1)\n")
    assert outputs.rewrite(written) == written.text
