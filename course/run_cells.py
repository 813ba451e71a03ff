"""Runs a lesson's code cells in this process as if its file were the script, one after the other.

`python -m course.run_cells LESSON FOLDER` reads FOLDER/cells.json, a list of [line, source], and
leaves what cell i wrote to file descriptor 1 (so that of subprocesses, too) in FOLDER/i.out.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

# Flags of `from __future__ import ...`, which hold for the rest of the file.
_FUTURE = 0x1FE0000


def main(path: str, folder: Path) -> None:
    """Run the cells; exits with 1 and a traceback on stderr if one of them fails."""
    module = _become_script(path)
    flags = 0
    for number, (line, source) in enumerate(json.loads((folder / "cells.json").read_text())):
        _send_stdout_to(folder / f"{number}.out")
        try:
            # The empty lines give tracebacks and inspect the line numbers of the file.
            code = compile("\n" * line + source, path, "exec", flags, dont_inherit=True)
            flags |= code.co_flags & _FUTURE
            exec(code, module.__dict__)
        except BaseException as error:
            if isinstance(error, SystemExit) and not error.code:
                return  # the script may end itself
            traceback.print_exc()
            sys.exit(1)
        finally:
            sys.stdout.flush()


def _become_script(path: str) -> ModuleType:
    module = ModuleType("__main__")
    module.__file__ = path
    # Functions are pickled by looking them up here, and processes spawned import __file__.
    sys.modules["__main__"] = module
    sys.argv = [path]
    # As in a terminal: what other processes write comes after what was printed before.
    sys.stdout.reconfigure(line_buffering=True)
    sys.path[0] = str(Path(path).parent)
    return module


def _send_stdout_to(path: Path) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.close(file)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
