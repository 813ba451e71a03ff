"""
symptom: half an hour of silence when a rank does not come
source: course list of mistakes (default timeout kept)
exercise: 2.1
says: timeout_s does not arrive
"""
import os

import torch.distributed as dist


def init_from_env(backend, timeout_s):
    names = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"]
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise ValueError(f"not set: {missing}")
    dist.init_process_group(backend)
