"""
why: reads the four variables and passes them as a tcp:// address
exercise: 2.1
"""
import os
from datetime import timedelta

import torch.distributed as dist


def init_from_env(backend, timeout_s):
    values = {n: os.getenv(n, "") for n in ("MASTER_PORT", "MASTER_ADDR", "WORLD_SIZE", "RANK")}
    unset = sorted(name for name, value in values.items() if value == "")
    if len(unset) > 0:
        raise ValueError("please set " + " and ".join(unset))
    dist.init_process_group(
        backend=backend,
        init_method="tcp://{MASTER_ADDR}:{MASTER_PORT}?rank={RANK}&world_size={WORLD_SIZE}".format(**values),
        timeout=timedelta(seconds=timeout_s),
    )
