"""Grader of lesson 02: making the process group, and leaving it."""

import os
import re
import socket
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import torch
import torch.distributed as dist

from ddp_grader import Hung, Returned, caught, device, exercise
from ddp_grader.verdict import GradeEnded, explain

# Timeouts in seconds. SHORT is for a rank that waits alone (PyTorch still takes 0.5 to 1 s),
# SOON for cases in which some ranks come, and must have come by then.
SHORT, SOON, LONG = 0.1, 0.8, 20
# As long as this a scenario with a missing peer may take. Then a rank that still waits is hung.
PATIENCE = 6.0
VARIABLES = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"]
HOST = "127.0.0.1"
# This machine too, but nobody listens there.
DEAD_HOST = "127.0.0.2"
DEAD_PORT = 1


# ---- used in the scenarios -----------------------------------------------------------------------


def who():
    """(number of this process, number of processes, port that is reserved for this run)."""
    return tuple(int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "MASTER_PORT"))


def pretend(**variables):
    """Set these variables (None unsets). On the CPU every rank seems to have a node of its own."""
    if device().type == "cpu":
        variables["LOCAL_RANK"] = 0
    for name, value in variables.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = str(value)


def environment():
    return {name: os.environ.get(name) for name in VARIABLES}


def changes(before):
    """What has changed in the environment, as text."""
    now = environment()
    return [f"{name}={now[name]}" for name in VARIABLES if now[name] != before[name]]


def group_report():
    """What the default group is like; the sum is 1 + 2 + ... if all its ranks can talk."""
    if not dist.is_initialized():
        return {"rank": None, "size": None, "backend": "", "sum": None}
    x = torch.tensor([dist.get_rank() + 1.0], device=device())
    dist.all_reduce(x)
    return {
        "rank": dist.get_rank(),
        "size": dist.get_world_size(),
        "backend": dist.get_backend(),
        "sum": x.item(),
    }


def attempt(fn, *args, **kwargs):
    """Call fn and report how it ended; mistakes in the code itself are let through."""
    started = time.monotonic()
    with _quiet_stderr():
        error = caught(fn, *args, **kwargs)
    if isinstance(error, (NameError, AttributeError, TypeError, UnboundLocalError)):
        raise error
    return {
        "seconds": time.monotonic() - started,
        "error": f"{type(error).__name__}: {error}" if error else "",
        "text": str(error or ""),
        "types": [cls.__name__ for cls in type(error).__mro__] if error else [],
        "group": dist.is_initialized(),
        "keep": error,  # its frames hold rank 0's store, which the others may still need
    }


@contextmanager
def _quiet_stderr():
    """Hide the long complaints in which PyTorch's C++ code tells of a timeout."""
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


def leave():
    if dist.is_initialized():
        dist.destroy_process_group()


def plain(report):
    return {key: value for key, value in report.items() if key != "keep"}


@contextmanager
def dead_end():
    """A port at DEAD_HOST where nobody listens, and a function: was there a knock at HOST instead?"""
    knocks = []
    with socket.create_server((HOST, 0)) as trap:

        def hang_up():
            with suppress(OSError):  # closed at the end
                while True:
                    connection, _ = trap.accept()
                    knocks.append(1)
                    connection.close()

        threading.Thread(target=hang_up, daemon=True).start()
        yield trap.getsockname()[1], lambda: bool(knocks)


def line_up(name, number, count, patience=3.0):
    """Wait until all processes of this run are here. (Not by a collective: there is no group.)"""
    Path(f"{name}.{number}").touch()
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if all(Path(f"{name}.{other}").exists() for other in range(count)):
            return
        time.sleep(0.002)


def start(rank, count):
    """Rank 0 first, then rank 1, and so on: ranks never start at the same moment.

    A TCPStore that connects before rank 0 listens tries again only after half a second or more.
    """
    line_up("ready", rank, count)
    time.sleep(0.04 * rank)


# ---- used in the tests ---------------------------------------------------------------------------


def check_group(grade, rank, report, size, call):
    """This rank is in a group of that size, and it works."""
    grade.check(
        report["rank"] is not None,
        f"{call} returned, but there is no default process group",
        rank=rank,
        cause="this rank never called init_process_group",
        next_step="call dist.init_process_group on every rank",
    )
    grade.equal(
        report["size"],
        size,
        rank=rank,
        what=f"dist.get_world_size() after {call}",
        cause="the world size comes from the wrong place",
        next_step=f"use {'WORLD_SIZE' if 'env' in call else 'the argument world_size'}",
    )
    grade.equal(
        report["rank"],
        rank,
        rank=rank,
        what=f"dist.get_rank() after {call}",
        cause="the rank comes from the wrong place, for example from LOCAL_RANK",
        next_step=f"use {'RANK' if 'env' in call else 'the argument rank'}",
    )
    grade.equal(
        report["backend"],
        grade.backend,
        rank=rank,
        what=f"dist.get_backend() after {call}",
        cause="the argument backend is not used",
        next_step="pass backend to dist.init_process_group",
    )
    grade.equal(
        report["sum"],
        size * (size + 1) / 2,
        rank=rank,
        what=f"the all_reduce of rank + 1 after {call}",
        cause="the ranks are not all in one group",
        next_step="print rank, world size and address on each rank before init_process_group",
    )


def check_environment(grade, rank, changed, call):
    grade.equal(
        changed,
        [],
        rank=rank,
        what=f"what {call} changed in os.environ",
        cause="it writes its arguments or its defaults into the environment",
        next_step="only read os.environ; pass what you know as init_method, rank and world_size",
    )


def reports_in_time(
    grade,
    scenario,
    *args,
    ranks,
    waited,
    cause="timeout_s does not arrive at the place that waits, or not as seconds",
    next_step="pass timeout=timedelta(seconds=timeout_s); a store has a timeout of its own, too",
):
    """Like grade.run, with words of our own for ranks that wait until the deadline."""
    run = grade.outcomes(scenario, *args, ranks=ranks, group=False, timeout=PATIENCE)
    if all(isinstance(outcome, (Returned, Hung)) for outcome in run.outcomes):
        for outcome in run.outcomes:
            grade.check(
                isinstance(outcome, Returned),
                f"{waited} for {PATIENCE:.0f} s without an end",
                rank=outcome.rank,
                cause=cause,
                next_step=next_step,
            )
    if not run.ok:
        raise GradeEnded(explain(run))
    return run.values


def check_host(grade, report, call):
    """It went to the host that it was told, not to the one that is usual on one machine."""
    grade.check(
        not report["elsewhere"],
        f"{call} = {DEAD_HOST} connected to {HOST}",
        rank=1,
        cause="the host is fixed, so that ranks on another machine would look for rank 0 at home",
        next_step="use the address that was given, also on rank 0",
    )


def check_noticed(grade, rank, report, call):
    """A rank whose peer never came raised, and is in no group."""
    grade.check(
        bool(report["error"]),
        f"{call} returned, though another rank never came",
        rank=rank,
        cause="the error was swallowed, or nobody was waited for",
        next_step="let the error out: without its peer this rank cannot train",
    )
    grade.check(
        not report["group"],
        f"{call} raised {report['error']}, and yet a default process group exists",
        rank=rank,
        cause="a group of another kind was made instead, or too early",
        next_step="make the group only once, when all ranks can be in it",
    )


# ---- 2.1 ----------------------------------------------------------------------------------------


def join_by_env(lesson, backend):
    rank, count, port = who()
    pretend(RANK=rank, WORLD_SIZE=count, MASTER_ADDR=HOST, MASTER_PORT=port)
    before = environment()
    start(rank, count)
    lesson.init_from_env(backend, LONG)
    return group_report(), changes(before)


# What is missing (None: not set, "": empty)
GAPS = [
    dict.fromkeys(VARIABLES),
    {"MASTER_ADDR": None, "MASTER_PORT": None},
    {"RANK": None},
    {"WORLD_SIZE": None, "MASTER_PORT": ""},
    {"MASTER_ADDR": ""},
]


def join_env_wrong(lesson):
    """Process 0 tries all gaps, process 1 is a rank 1 without its rank 0."""
    number, _, port = who()
    if number == 1:
        with dead_end() as (dead_port, knocked):
            pretend(RANK=1, WORLD_SIZE=2, MASTER_ADDR=DEAD_HOST, MASTER_PORT=dead_port)
            return plain(attempt(lesson.init_from_env, "gloo", SHORT)) | {"elsewhere": knocked()}
    reports = []
    for gap in GAPS:
        # A world of size 1: defaults that fill the gap lead to a group, not into a long wait.
        pretend(**{"RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": HOST, "MASTER_PORT": port, **gap})
        before = environment()
        report = attempt(lesson.init_from_env, "gloo", SHORT)
        reports.append(plain(report) | {"changed": changes(before)})
        leave()
    return reports


@exercise("2.1", "Join by environment")
def test_2_1_init_from_env(grade):
    run = grade.run(join_by_env, grade.backend, ranks=3, group=False)
    for rank, (report, changed) in enumerate(run.values):
        check_group(grade, rank, report, run.world_size, "init_from_env")
        check_environment(grade, rank, changed, "init_from_env")
    if grade.backend != "gloo":
        return  # the rest does not depend on the backend
    reports, alone = reports_in_time(
        grade, join_env_wrong, ranks=2, waited=f"init_from_env with timeout_s={SHORT}, where rank 0 never comes, waited"
    )
    for gap, report in zip(GAPS, reports, strict=True):
        _check_gap(grade, gap, report)
    check_host(grade, alone, "init_from_env with MASTER_ADDR")
    check_noticed(grade, 1, alone, "init_from_env")


def _check_gap(grade, gap, report):
    missing = [name for name in VARIABLES if name in gap]
    where = ", ".join(f"{name} {'not set' if gap[name] is None else 'empty'}" for name in missing)
    call = f"init_from_env with {where}"
    check_environment(grade, None, report["changed"], call)
    grade.check(
        bool(report["error"]),
        f"{call} returned, it should raise ValueError",
        cause="a default stands in for the missing variable, or the error was swallowed",
        next_step="no defaults: a forgotten launcher must be noticed",
    )
    grade.check(
        "ValueError" in report["types"],
        f"{call} raised {report['error']!r}, it should raise ValueError",
        cause="os.environ[name] raises KeyError if the variable is not set"
        if "KeyError" in report["types"]
        else "an empty variable was taken for a value, or other ranks were waited for",
        next_step="look for missing variables first: not os.environ.get(name)",
    )
    named = [name for name in VARIABLES if re.search(rf"\b{name}\b", report["text"])]
    grade.equal(
        named,
        missing,
        what=f"the variables named in the message of {call} ({report['text']!r})",
        cause="it stops at the first missing one"
        if named == missing[:1]
        else "it names variables that are set, or forgets some",
        next_step="collect all missing names first, then raise one ValueError with all of them",
    )


# ---- 2.2 ----------------------------------------------------------------------------------------


def join_by_tcp(lesson, backend):
    rank, count, port = who()
    # The environment says something else.
    pretend(RANK=0, WORLD_SIZE=1, MASTER_ADDR=HOST, MASTER_PORT=DEAD_PORT)
    before = environment()
    start(rank, count)
    lesson.init_from_tcp(HOST, port, rank, count, backend, LONG)
    return group_report(), changes(before), _listens(port)


def _listens(port):
    try:
        socket.create_connection((HOST, port), timeout=2).close()
    except OSError:
        return False
    return True


BAD_RANKS = [(2, 2), (3, 2), (1, 1), (-2, 3), (-1, 2)]


def join_tcp_wrong(lesson):
    """Process 0: bad ranks up to the first that gives no ValueError, then a group of one.

    Process 1 is a rank 1 without its rank 0.
    """
    number, _, port = who()
    pretend(**dict.fromkeys(VARIABLES))
    if number == 1:
        with dead_end() as (dead_port, knocked):
            report = attempt(lesson.init_from_tcp, DEAD_HOST, dead_port, 1, 2, "gloo", SHORT)
            return plain(report) | {"elsewhere": knocked()}
    reports = []
    for rank, size in BAD_RANKS:
        reports.append(plain(attempt(lesson.init_from_tcp, HOST, DEAD_PORT, rank, size, "gloo", SHORT)))
        leave()
        if "ValueError" not in reports[-1]["types"]:
            return reports, {}
    alone = plain(attempt(lesson.init_from_tcp, HOST, port, 0, 1, "gloo", LONG))
    leave()
    return reports, alone


@exercise("2.2", "Join by address")
def test_2_2_init_from_tcp(grade):
    run = grade.run(join_by_tcp, grade.backend, ranks=3, group=False)
    for rank, (report, changed, listens) in enumerate(run.values):
        check_environment(grade, rank, changed, "init_from_tcp")
        check_group(grade, rank, report, run.world_size, "init_from_tcp")
        grade.check(
            listens,
            f"there is a group, but nobody listens at {HOST}, port `port`",
            rank=rank,
            cause="the ranks met elsewhere, at MASTER_ADDR and MASTER_PORT of the environment",
            next_step='pass the arguments: init_method=f"tcp://{host}:{port}"',
        )
    if grade.backend != "gloo":
        return
    (reports, single), alone = reports_in_time(
        grade, join_tcp_wrong, ranks=2, waited=f"init_from_tcp with timeout_s={SHORT}, where rank 0 never comes, waited"
    )
    for (rank, size), report in zip(BAD_RANKS, reports, strict=False):
        grade.check(
            "ValueError" in report["types"],
            f"init_from_tcp(rank={rank}, world_size={size}) "
            + (f"raised {report['error']!r}" if report["error"] else "returned")
            + ", it should raise ValueError at once",
            cause="ranks are 0 .. world_size - 1, and this is not checked"
            if rank > 0
            else "negative ranks are not checked",
            next_step="raise ValueError unless 0 <= rank < world_size, before anything else",
        )
    grade.check(
        not single["error"] and single["group"],
        f"init_from_tcp(rank=0, world_size=1) {'raised ' + single['error'] if single['error'] else 'made no group'}",
        cause="a group of one rank is fine",
        next_step="refuse only ranks outside 0 .. world_size - 1",
    )
    check_host(grade, alone, "init_from_tcp with host")
    check_noticed(grade, 1, alone, "init_from_tcp")


# ---- 2.3 ----------------------------------------------------------------------------------------


def join_by_file(lesson, backend):
    """Two groups one after the other: rank 0 comes late to the first, early to the second."""
    rank, count, _ = who()
    pretend(**dict.fromkeys(VARIABLES))
    first, second = Path("one.store").absolute(), Path("two.store")
    time.sleep(0.12 if rank == 0 else 0)
    lesson.init_from_file(str(first), rank, count, backend, LONG)
    reports = [group_report()]
    leave()
    time.sleep(0 if rank == 0 else 0.08)
    lesson.init_from_file(second, rank, count, backend, LONG)
    reports.append(group_report())
    return reports


def join_crashed(lesson, path):
    """The earlier run: its ranks are killed in the end, so nobody deletes the file."""
    number, count, _ = who()
    pretend(**dict.fromkeys(VARIABLES))
    lesson.init_from_file(path, number, count, "gloo", LONG)


def join_file_wrong(lesson, path):
    """Processes 0 to 2 come to a file of an earlier run, rank 0 last.

    Process 3 goes to a folder that does not exist, then waits for a rank that never comes.
    """
    number, _, _ = who()
    pretend(**dict.fromkeys(VARIABLES))
    if number == 3:
        lost = attempt(lesson.init_from_file, "no folder/store", 1, 2, "gloo", SHORT)
        leave()
        return plain(lost), plain(attempt(lesson.init_from_file, "alone", 1, 2, "gloo", SHORT))
    time.sleep(0.12 if number == 0 else 0)  # the others have read what the dead rank 0 left
    report = attempt(lesson.init_from_file, path, number, 3, "gloo", SOON)
    report |= {"sum": None, "broken": ""}
    if not report["error"]:
        try:
            report["sum"] = group_report()["sum"]
        except RuntimeError as error:
            report["broken"] = str(error)
    return plain(report)


@exercise("2.3", "Join by file")
def test_2_3_init_from_file(grade):
    every_rank = reports_in_time(
        grade,
        join_by_file,
        grade.backend,
        ranks=3,
        waited="init_from_file, with a new file and rank 0 coming 0.1 s after the others, waited",
        cause="a rank spoils what the others have written already, for example by deleting the file",
        next_step="the ranks come in any order: change nothing that another rank of this run may have made",
    )
    for rank, reports in enumerate(every_rank):
        for report, path in zip(reports, ["an absolute path", "a relative Path"], strict=True):
            check_group(grade, rank, report, len(every_rank), f"init_from_file with {path}")
    if grade.backend != "gloo":
        return
    # An old file is sometimes used without harm, by luck: nobody is lucky four times.
    for _ in range(4):
        *reports, (lost, alone) = _meet_an_old_file(grade)
        if not _new_start(reports):
            break
    _check_stale(grade, reports)
    grade.check(
        "FileNotFoundError" in lost["types"],
        "init_from_file in a folder that does not exist "
        + (f"raised {lost['error']!r}" if lost["error"] else "returned")
        + ", it should raise FileNotFoundError at once",
        cause="the folder was not looked for, or it was made",
        next_step="raise FileNotFoundError unless Path(path).absolute().parent.is_dir()",
    )
    check_noticed(grade, 1, alone, "init_from_file")


def _meet_an_old_file(grade):
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "store"))
        grade.run(join_crashed, path, ranks=3, group=False)
        return reports_in_time(
            grade,
            join_file_wrong,
            path,
            ranks=4,
            waited="init_from_file, on an old file, in a folder that does not exist (rank 3), or "
            "without its peer (rank 3), waited",
            cause="timeout_s does not arrive at the place that waits, or a FileStore was made in a "
            "folder that does not exist, for which it waits 5 minutes",
            next_step="look for the folder first; store.set_timeout(timedelta(seconds=timeout_s))",
        )


def _new_start(reports):
    """Three ranks came to an old file, and made a group that works."""
    return all(report["sum"] == 6.0 for report in reports)


def _check_stale(grade, reports):
    story = "an earlier run left its file; now three new ranks come, rank 0 last"
    if _new_start(reports):
        return
    for rank, report in enumerate(reports):
        grade.check(
            bool(report["error"]),
            "init_from_file returned, but "
            + ("the group does not work" if report["broken"] else "others raised")
            + f" ({story})",
            rank=rank,
            cause="this rank read the notes of dead processes"
            if report["broken"]
            else "some ranks refused the file and others used it",
            next_step="let each rank leave a note with its own number by store.add, and refuse "
            "the file if it was there before",
        )
    grade.check(
        "FileExistsError" in reports[0]["types"],
        f"init_from_file raised {reports[0]['error']!r} ({story}); it should raise "
        "FileExistsError, or make a new start",
        rank=0,
        cause="nobody noticed that the file is old: this error came when the notes in it led to dead processes",
        next_step="find out whether a rank 0 was here before; if so, raise FileExistsError",
    )
    grade.check(
        "store" in reports[0]["text"],
        f"the FileExistsError does not name the file: {reports[0]['text']!r}",
        rank=0,
        cause="the path is not in the message",
        next_step="put the path into the message: somebody must delete that file",
    )


# ---- 2.4 ----------------------------------------------------------------------------------------


def find_ports(lesson):
    """Each of several processes finds some ports at the same time, then uses the first."""
    number, count, _ = who()
    line_up("ready", number, count)
    ports = [lesson.find_free_port() for _ in range(4)]
    if not all(type(port) is int and 0 < port < 65536 for port in ports):
        return [repr(port) for port in ports], ""
    problems = []
    for port in ports[:2]:
        try:
            dist.TCPStore(HOST, port, is_master=True, wait_for_workers=False)
        except RuntimeError as error:
            problems.append(str(error))
    # One alone may be bad luck: another program was quicker.
    return ports, problems[0] if len(problems) == 2 else ""


def share_ports(lesson):
    """Share a port, occupy it, share another one. Rank 0 comes first, then last."""
    number, count, port = who()
    pretend(**dict.fromkeys(VARIABLES))
    stores = [
        dist.TCPStore(HOST, port, is_master=number == 0, wait_for_workers=False),
        dist.FileStore(str(Path("notes").absolute()), count),
    ]
    shared = []
    listening = []
    for turn, store in enumerate([stores[0], stores[0], stores[1]]):
        # In the second call, the note of the first is already in the store when others look for it.
        if (number == 0) == (turn > 0):
            time.sleep(0.03)
        shared.append(lesson.share_free_port(store, number))
        if number == 0 and type(shared[-1]) is int and 0 < shared[-1] < 65536:
            listening.append(_occupy(shared[-1]))
        line_up(f"turn {turn}", number, count)
    return [port if type(port) is int else repr(port) for port in shared]


def _occupy(port):
    """Listen there, so that the port is no longer free."""
    server = socket.socket()
    try:
        server.bind(("", port))
        server.listen()
    except OSError:
        pass  # somebody, perhaps the learner's store, listens there already
    return server


@exercise("2.4", "A port for all", gpu=False)
def test_2_4_free_port(grade):
    run = grade.run(find_ports, ranks=3, group=False)
    for rank, (ports, _) in enumerate(run.values):
        for port in ports:
            grade.check(
                type(port) is int,
                f"find_free_port returned {port}, not a port number",
                rank=rank,
                cause="socket.getsockname() returns a tuple, its second part is the port"
                if "(" in str(port)
                else "0 means 'any port'; getsockname() tells which one it became"
                if port == "0"
                else "it is of another type, or not between 1 and 65535",
                next_step="return an int from 1 to 65535",
            )
    first = [ports[0] for ports, _ in run.values]
    again = [ports[0] for ports, _ in run.values if len(set(ports)) == 1]
    grade.check(
        len(set(first)) > 1 and not again,
        f"find_free_port returned {first} in three processes at the same moment"
        if len(set(first)) == 1
        else f"find_free_port returned {again[0] if again else ''} four times in a row",
        cause="the port is fixed, or the search starts at a fixed number: two jobs that start "
        "together get the same port",
        next_step="bind to port 0 and let the operating system choose",
    )
    for rank, (_, problem) in enumerate(run.values):
        grade.check(
            not problem,
            f"a TCPStore at a port from find_free_port failed: {problem}",
            rank=rank,
            cause="the socket that found the port is still open, or the port was never free",
            next_step="bind to port 0, read the number, close the socket (by a with block)",
        )
    run = grade.run(share_ports, ranks=4, group=False)
    for turn, ports in enumerate(zip(*run.values, strict=True)):
        _check_shared(grade, turn, ports, run.values[0])


def _check_shared(grade, turn, ports, of_rank_0):
    call = ["first", "second", "third"][turn] + " call of share_free_port"
    if turn == 2:
        call += " (on another store, a FileStore)"
    for rank, port in enumerate(ports):
        grade.check(
            type(port) is int and 0 < port < 65536,
            f"the {call} returned {port}",
            rank=rank,
            cause="store.get returns bytes"
            if str(port).startswith("b'")
            else "it is of another type, or not between 1 and 65535",
            next_step="return int(store.get(key))",
        )
        earlier = of_rank_0[:turn]
        grade.check(
            port == ports[0],
            f"the {call} returned {port}, on rank 0 it returned {ports[0]}",
            rank=rank,
            cause="this is the port of an earlier call: its note was still in the store"
            if port in earlier
            else "each rank picked a port of its own",
            next_step="use a new key for each call, one that all ranks agree on"
            if port in earlier
            else "let rank 0 pick and store.set it; the others store.get it",
        )
    grade.check(
        ports[0] not in of_rank_0[:turn],
        f"the {call} returned {ports[0]} again, which is no longer free",
        rank=0,
        cause="the port of an earlier call was kept",
        next_step="find a new free port in each call",
    )


# ---- 2.5 ----------------------------------------------------------------------------------------


class Boom(Exception):
    pass


def with_blocks(lesson, backend):
    """Several groups one after the other, each with its own part of one store."""
    rank, count, port = who()
    store = dist.TCPStore(HOST, port, is_master=rank == 0, wait_for_workers=False)

    def join(name, *, size):
        calls.append(name)
        dist.init_process_group(backend, store=dist.PrefixStore(name, store), rank=rank, world_size=size)

    def refuse(name):
        raise Boom(f"{name} refused")

    left = Path("rank 1 has left")
    reports = {}
    for story in STORIES:
        calls = []
        inside = {"sum": None, "entered": 0, "waited": True}
        boom = {"an error": Boom("boom"), "Ctrl-C": KeyboardInterrupt(), "exit": SystemExit(3)}
        raising = boom.get(story)
        if story == "an error on rank 1" and rank == 1:
            raising = Boom("boom")
        came_out = None
        if story == "twice":
            join("outer", size=count)
        try:
            if story == "init fails":
                manager = lesson.process_group(refuse, "init")
            elif story == "twice":
                manager = lesson.process_group(dist.init_process_group, backend)
            else:
                manager = lesson.process_group(join, story, size=count)
            with manager:
                inside["entered"] += 1
                inside["before"] = dist.is_initialized()
                if story == "success":
                    inside["sum"] = group_report()["sum"]
                if story == "destroyed in the body":
                    dist.destroy_process_group()
                if story == "an error on rank 1" and rank != 1 and count > 1:
                    inside["waited"] = _wait_for(left)
                if raising is not None:
                    raise raising
        except NotImplementedError:
            raise
        except BaseException as error:
            if isinstance(error, (NameError, AttributeError, TypeError)):
                raise
            came_out = error
        if story == "an error on rank 1" and rank == 1:
            left.touch()
        reports[story] = inside | {
            "calls": len(calls),
            "raised": repr(raising) if raising is not None else "",
            "came out": repr(came_out) if came_out is not None else "",
            "same": came_out is raising,
            "group": dist.is_initialized(),
        }
        leave()
    line_up("done", rank, count)
    return reports


def _wait_for(path):
    end = time.monotonic() + 1.0
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.002)
    return path.exists()


STORIES = {
    "success": "the body ends normally",
    "an error": "the body raises an exception",
    "once more": "after that, a second with block",
    "an error on rank 1": "the body raises on rank 1 only",
    "Ctrl-C": "the body raises KeyboardInterrupt",
    "exit": "the body calls sys.exit(3)",
    "destroyed in the body": "the body destroys the group itself",
    "init fails": "init raises",
    "twice": "there is a group already, so init raises 'initialize ... twice!'",
}


@exercise("2.5", "A group in a with block")
def test_2_5_process_group(grade):
    run = grade.run(with_blocks, grade.backend, ranks=3, group=False)
    size = run.world_size
    for story, what in STORIES.items():
        for rank, reports in enumerate(run.values):
            _check_block(grade, rank, story, what, reports[story], size)


def _check_block(grade, rank, story, what, report, size):
    if story in ("init fails", "twice"):
        wanted = "Boom" if story == "init fails" else "twice!"
        grade.check(
            wanted in report["came out"] and not report["entered"],
            f"process_group, where {what}: "
            f"{report['came out'] or 'nothing'} came out, it should be init's own exception",
            rank=rank,
            cause="the exception of init was swallowed"
            if not report["came out"]
            else "cleaning up failed, and its error hides the real one",
            next_step="call init before the try: if it raises, there is nothing to clean up",
        )
        grade.check(
            report["group"] == (story == "twice"),
            f"process_group, where {what}: the group that was there before is gone",
            rank=rank,
            cause="init is inside the try, so finally destroys a group that is not its own",
            next_step="call init before the try",
        )
        return
    grade.check(
        report["entered"] == 1 and report["before"],
        f"process_group, where {what}: in the body there is no default process group "
        f"({report['came out'] or 'no error'})",
        rank=rank,
        cause="init was not called before the body, or its arguments were not passed on",
        next_step="init(*args, **kwargs), then yield",
    )
    grade.equal(
        report["calls"],
        1,
        rank=rank,
        what=f"how often init was called, where {what}",
        cause="a process can have one default group only",
        next_step="call init once, on entering",
    )
    grade.check(
        report["waited"],
        f"process_group, where {what}: while this rank was in its body, rank 1 did not get out",
        rank=rank,
        cause="leaving waits for the other ranks, for example in a barrier",
        next_step="only destroy the group: a rank that raised must be able to tell why",
    )
    if story == "success":
        grade.equal(
            report["sum"],
            size * (size + 1) / 2,
            rank=rank,
            what="the all_reduce of rank + 1 in the body",
            cause="the group is not whole any more in the body",
            next_step="leave the group alone until the body has ended",
        )
    grade.check(
        report["same"],
        f"process_group, where {what}: {report['came out'] or 'nothing'} came out of the with "
        f"block, it should be {report['raised'] or 'nothing'}",
        rank=rank,
        cause=_cause_came_out(report),
        next_step="try: yield, finally: destroy the group if dist.is_initialized(); no except",
    )
    grade.check(
        not report["group"],
        f"process_group, where {what}: the group still exists after the with block",
        rank=rank,
        cause="what stands after yield does not run when the body raises"
        if story == "an error"
        else "except Exception does not see KeyboardInterrupt and SystemExit"
        if story in ("Ctrl-C", "exit")
        else "nobody destroyed it",
        next_step="put dist.destroy_process_group() into a finally",
    )


def _cause_came_out(report):
    if not report["came out"]:
        return "the exception was swallowed"
    if not report["raised"]:
        return "the group was destroyed twice, or something else failed while leaving"
    return "the exception was replaced by another one"


# ---- 2.6 ----------------------------------------------------------------------------------------


def join_with_deadline(lesson, backend):
    rank, count, port = who()
    pretend(RANK=0, WORLD_SIZE=1, MASTER_ADDR=HOST, MASTER_PORT=DEAD_PORT)
    before = environment()
    start(rank, count)
    lesson.init_with_deadline(HOST, port, rank, count, backend, LONG)
    return group_report(), changes(before)


def wait_in_vain(lesson, backend, ranks, size):
    """Each process has the rank that stands in ranks. The rank -1 is a rank 1 without rank 0."""
    number, count, port = who()
    pretend(**dict.fromkeys(VARIABLES))
    rank, host, timeout_s = ranks[number], HOST, SOON
    stack = ExitStack()
    knocked = bool
    if rank < 0:
        port, knocked = stack.enter_context(dead_end())
        rank, host, timeout_s = 1, DEAD_HOST, SHORT
    line_up("ready", number, count)
    time.sleep(0.04 if number else 0)
    report = attempt(lesson.init_with_deadline, host, port, rank, size, backend, timeout_s)
    line_up("done", number, count)
    told = {"rank": rank, "host": host, "address": f"{host}:{port}", "timeout_s": timeout_s}
    return plain(report) | told | {"elsewhere": knocked()}


@exercise("2.6", "An error that names the missing")
def test_2_6_init_with_deadline(grade):
    run = grade.run(join_with_deadline, grade.backend, ranks=3, group=False)
    for rank, (report, changed) in enumerate(run.values):
        check_environment(grade, rank, changed, "init_with_deadline")
        check_group(grade, rank, report, run.world_size, "init_with_deadline")
    # Two processes with rank 1; the last process waits elsewhere, for a rank 0 that is missing.
    ranks, size = [0, 1, 1, 3, -1], 5
    if grade.backend != "gloo":
        ranks, size = [0], 2  # as many as any machine can run
    came = sorted(set(ranks) - {-1})
    missing = [rank for rank in range(size) if rank not in came]
    reports = reports_in_time(
        grade,
        wait_in_vain,
        grade.backend,
        ranks,
        size,
        ranks=len(ranks),
        waited=f"init_with_deadline with timeout_s={SOON}, where some ranks never come, waited",
        cause="a loop or a store waits without looking at the time",
        next_step="note the deadline at the start, and raise TimeoutError when it has passed",
    )
    for report in reports:
        story = f"where of {size} ranks the ranks {', '.join(map(str, came))} came"
        if report["host"] == DEAD_HOST:
            story = "where rank 0 never opened its store"
        elif len(ranks) > 2:
            story += " (two processes said that they are rank 1)"
        check_host(grade, report, "init_with_deadline with host")
        check_noticed(grade, report["rank"], report, f"init_with_deadline, {story},")
        _check_words(grade, report, story, len(came), size, missing)


def _check_words(grade, report, story, came, size, missing):
    rank, text, timeout_s = report["rank"], report["text"], report["timeout_s"]
    address = report["address"]
    said = f"init_with_deadline, {story}, raised {report['error']!r}"
    grade.check(
        "TimeoutError" in report["types"],
        f"{said}, it should raise TimeoutError",
        rank=rank,
        cause="PyTorch's own error came through: it tells too little",
        next_step="catch what the store raises (a RuntimeError), and raise TimeoutError",
    )
    grade.check(
        report["seconds"] >= 0.8 * timeout_s,
        f"the error ({text!r}) came after {report['seconds']:.2f} s, with timeout_s={timeout_s}",
        rank=rank,
        cause="it gives up too early: the missing rank could still come",
        next_step="try again until the deadline: time.monotonic() at the start, plus timeout_s",
    )
    grade.check(
        report["seconds"] <= 4 * timeout_s + 3,
        f"the error came after {report['seconds']:.1f} s, with timeout_s={timeout_s}",
        rank=rank,
        cause="several waits, each with the full timeout, follow each other",
        next_step="note the deadline at the start; give each wait only what is left",
    )
    grade.check(
        address in text,
        f"{said}, without the address {address}",
        rank=rank,
        cause="a wrong address is the most frequent reason why ranks do not meet",
        next_step='put f"{host}:{port}" into the message',
    )
    rest = text.replace(address, " ")
    if report["host"] == DEAD_HOST:
        grade.check(
            re.search(r"\brank\s*0\b", rest, re.IGNORECASE) is not None,
            f'{said}, without the words "rank 0"',
            rank=rank,
            cause="the store is rank 0's; if nobody answers, rank 0 is missing",
            next_step="say so in the message",
        )
        return
    counted = re.search(r"\b(\d+)\s*(?:out of|of|/)\s*(\d+)\b", rest)
    grade.check(
        counted is not None,
        f'{said}, without how many ranks came ("{came} of {size}")',
        rank=rank,
        cause="the message does not count",
        next_step="count the ranks whose notes are in the store",
    )
    grade.equal(
        f"{counted[1]} of {counted[2]}",
        f"{came} of {size}",
        rank=rank,
        what=f"how many ranks came, in the message {text!r}",
        cause="two processes with the same rank were counted as two ranks"
        if "two processes" in story
        else "the count in the message is wrong",
        next_step="one key for each rank: then two processes with the same rank count once",
    )
    numbers = [int(number) for number in re.findall(r"\d+", rest.replace(counted[0], " "))]
    forgotten = [number for number in missing if number not in numbers]
    grade.check(
        not forgotten,
        f"{said}, without the missing rank{'s' if len(forgotten) > 1 else ''} {', '.join(map(str, forgotten))}",
        rank=rank,
        cause="the message tells how many are missing, but not which",
        next_step="look which ranks' notes are not in the store, and name all of them",
    )
