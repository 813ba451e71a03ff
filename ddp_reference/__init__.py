"""The reference trainer: everything that the course teaches, in code to copy into your own work.

    torchrun --standalone --nproc-per-node=2 -m ddp_reference     # 2 ranks
    python -m ddp_reference                                       # 1 process, the same code
    python -m ddp_reference.launch                                # picks ranks and threads for you

Start reading at `main.py`: its `main` is the whole story. Each step is one module:

| module | subject | lesson |
|---|---|---|
| `ranks.py` | which process this is, and its device | 01 |
| `groups.py` | the process group: made, used, destroyed | 02 |
| `sharding.py` | which samples are whose, in every epoch | 03 |
| `data.py`, `augment.py` | data that live on the device | 03 |
| `models.py`, `wrapping.py` | the model and DistributedDataParallel | 04 |
| `training.py` | the training step | 04 |
| `launch.py`, `errors.py` | starting ranks, and ending them with one message | 05 |
| `checkpoint.py` | saving and resuming | 06 |
| `evaluation.py` | exact evaluation on all ranks | 07 |
| `optimization.py` | optimizer and learning rate | 08 |
| `config.py`, `progress.py` | command line; progress bar, log lines and metrics | |
"""
