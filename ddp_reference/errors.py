"""Mistakes that the user can correct: one message, no traceback, every rank gone (lesson 05).

A typing error in an option happens on all ranks at once. Left alone, it prints one traceback per rank, mixed
up. Here local rank 0 speaks for its node, and all ranks leave with an exit code.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

# torchrun ends all ranks as soon as one has failed. A silent rank that leaves first would take the speaker away
# in mid-sentence, so it waits to be ended. Not for ever: other launchers end nobody.
SILENT_RANK_WAITS_S = 10.0


class UserError(Exception):
    """Something that whoever started the run can correct.

    `shared` says that every rank of this node raises it, so that one can speak for all.
    """

    def __init__(self, message: str, *, shared: bool = True) -> None:
        super().__init__(message)
        self.shared = shared


@contextmanager
def one_message() -> Iterator[None]:
    """Turn a UserError, or a failure of the command line, into one message and SystemExit.

    Local rank 0 speaks, since each node has a terminal or a log file of its own.
    """
    speaks = os.environ.get("LOCAL_RANK", "0") == "0"
    try:
        yield
    except UserError as error:
        if speaks or not error.shared:
            print(f"error: {error}", file=sys.stderr, flush=True)
        else:
            time.sleep(SILENT_RANK_WAITS_S)
        sys.exit(1)
    except KeyboardInterrupt:  # Ctrl-C reaches all ranks, and is no error
        sys.exit(130)
    except SystemExit as leaving:  # tyro has said what is wrong
        if leaving.code and not speaks:
            time.sleep(SILENT_RANK_WAITS_S)
        raise
