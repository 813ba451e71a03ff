"""
why: PyTorch's own reader for the local rank, os.getenv for the rest
exercise: 1.1
"""
import os

import torch.distributed as dist


def read_rank_env():
    return RankInfo(
        rank=int(os.getenv("RANK", "0")),
        local_rank=dist.get_node_local_rank(fallback_rank=0),
        world_size=int(os.getenv("WORLD_SIZE", "1")),
        local_world_size=int(os.getenv("LOCAL_WORLD_SIZE", "1")),
        node_rank=int(os.getenv("GROUP_RANK", "0")),
    )
