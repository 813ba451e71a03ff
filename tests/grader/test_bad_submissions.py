"""Whatever learner code does, it gets its verdict and leaves no process behind."""

import psutil
import pytest

from ddp_grader.client import warm_server

IMPORTS = "import os, sys, time\nimport torch\nimport torch.distributed as dist\n"

CASES = {
    "hangs in a mismatched collective": (
        """
        def solve():
            if dist.get_rank() == 0:
                dist.all_reduce(torch.ones(1))
            else:
                dist.broadcast(torch.ones(1), src=0)
        """,
        "hung",
        [
            "rank 0 waits in all_reduce at answer.py:7",
            "rank 1 waits in broadcast at answer.py:9",
            "different collectives",
        ],
    ),
    "hangs in pure Python": (
        """
        def solve():
            while dist.get_rank() == 1:
                pass
        """,
        "hung",
        ["rank 1 never came back", "rank 1 still runs at answer.py:", "rank 0 returned"],
    ),
    "skips a collective on one rank": (
        """
        def solve():
            if dist.get_rank() == 1:
                return None
            dist.barrier()
        """,
        "hung",
        ["rank 0 waits in barrier at answer.py:8", "rank 1 returned at answer.py:7"],
    ),
    "skips backward on one rank": (
        """
        def solve():
            model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
            loss = model(torch.ones(1, 2)).sum()
            if dist.get_rank() == 0:
                loss.backward()
        """,
        "hung",
        ["rank 0 waits in backward()", "answer.py:9"],
    ),
    "disagrees about sizes": (
        """
        def solve():
            dist.all_reduce(torch.ones(1 + 500 * dist.get_rank()))
        """,
        "died",
        ["aborted in C++", "answer.py:6", "Collectives differ", "shapes"],
    ),
    "calls sys.exit(0)": ("def solve():\n    sys.exit(0)\n", "died", ["sys.exit(0)", "answer.py:5"]),
    "calls os._exit(0)": (
        "def solve():\n    if dist.get_rank() == 1:\n        os._exit(0)\n    dist.barrier()\n",
        "died",
        ["rank 1 ended its process with exit code 0", "answer.py:6"],
    ),
    "segfaults": (
        "import ctypes\ndef solve():\n    ctypes.string_at(0)\n",
        "died",
        ["ranks 0 and 1 crashed in C++", "answer.py:6"],
    ),
    "is killed": (
        "import signal\ndef solve():\n    os.kill(os.getpid(), signal.SIGKILL)\n",
        "died",
        ["SIGKILL", "answer.py:6"],
    ),
    "raises on one rank": (
        """
        def solve():
            if dist.get_rank() == 1:
                raise ValueError("no such batch")
            dist.barrier()
        """,
        "raised",
        ["rank 1 raised ValueError: no such batch", "answer.py:7", "rank 0 waits in barrier"],
    ),
    "raises at import": ("1 / 0\n", "raised", ["could not be imported", "ZeroDivisionError", "answer.py:4"]),
    "has a syntax error": (
        "def solve(:\n    pass\n",
        "raised",
        ["could not be imported", "SyntaxError", "answer.py:4"],
    ),
    "exits at import": ("sys.exit(0)\n", "died", ["sys.exit(0)"]),
    "lacks the function": ("x = 1\n", "raised", ["answer.py has no 'solve'"]),
    "returns an object of its own": (
        "class Sly:\n    def __eq__(self, other):\n        return True\ndef solve():\n    return Sly()\n",
        "raised",
        ["of a class of your own"],
    ),
    "swallows everything and hangs": (
        """
        def solve():
            while True:
                try:
                    dist.recv(torch.ones(1), src=1 - dist.get_rank())
                except BaseException:
                    pass
        """,
        "hung",
        ["ranks 0 and 1", "waits in recv at answer.py:8"],
    ),
    "is a stub": (
        'def solve():\n    raise NotImplementedError("Exercise 9.1: solve is not written yet")\n',
        "not attempted",
        ["Exercise 9.1"],
    ),
    "raises NotImplementedError of its own": (
        'def solve():\n    raise NotImplementedError("later")\n',
        "raised",
        ["NotImplementedError"],
    ),
}


def living_descendants():
    """Command lines of processes below the warm server: nothing may live there between two runs."""
    return [" ".join(process.cmdline()) for process in psutil.Process(warm_server().pid).children(recursive=True)]


@pytest.mark.parametrize("name", CASES)
def test_verdict(name, grade_source):
    source, status, phrases = CASES[name]
    import textwrap

    verdict, _ = grade_source(IMPORTS + textwrap.dedent(source), timeout=5.0)
    assert verdict.status == status, verdict.message
    for phrase in phrases:
        assert phrase in verdict.message, verdict.message
    assert "site-packages" not in verdict.message
    assert living_descendants() == []


def test_much_output_is_cut(grade_source):
    source = (
        IMPORTS + "def solve():\n    for _ in range(1000):\n        print('x' * 100_000)\n    raise ValueError('end')\n"
    )
    verdict, _ = grade_source(source)
    assert verdict.status == "raised"
    assert len(verdict.message) < 10_000


def test_output_is_prefixed_with_its_rank(grade_source):
    verdict, _ = grade_source(IMPORTS + "def solve():\n    print('hello')\n    raise ValueError\n")
    assert "rank 0 | hello" in verdict.message
    assert "rank 1 | hello" in verdict.message


def test_left_child_is_ended_and_told(grade_source):
    source = "import subprocess\ndef solve():\n    subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
    verdict, notes = grade_source(source)
    assert verdict.status == "passed"
    assert "sleep 1000" in notes[0]
    assert living_descendants() == []


def test_fork_that_comes_back_does_not_report(grade_source):
    verdict, _ = grade_source(
        IMPORTS + "def solve():\n    if os.fork() == 0:\n        return 'child'\n    time.sleep(.1)\n    return 1\n"
    )
    assert verdict.status == "passed"
    assert living_descendants() == []


def test_environment_and_folder_stay_unchanged(grade_source):
    import os

    before, folder = dict(os.environ), os.getcwd()
    source = IMPORTS + "def solve():\n    os.environ['RANK'] = '77'\n    os.chdir('/')\n    return os.environ['RANK']\n"
    assert grade_source(source)[0].status == "passed"
    assert (dict(os.environ), os.getcwd()) == (before, folder)
    check = IMPORTS + "def solve():\n    assert os.environ['RANK'] == str(dist.get_rank())\n"
    assert grade_source(check)[0].status == "passed"
