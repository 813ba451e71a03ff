"""The reference trainer: everything that the course teaches, in code to copy into your own work.

    torchrun --standalone --nproc-per-node=2 -m ddp_reference     # 2 ranks
    python -m ddp_reference                                       # 1 process, the same code
    python -m ddp_reference.launch                                # picks ranks and threads for you

Start at `main.py`: its `train` is the whole story. Each step of it is one module:

| module | subject | lesson |
|---|---|---|
| `ranks.py` | which process this is, and its device | 01 |
| `groups.py` | the process group: made, used, destroyed | 02 |
| `data.py`, `sharding.py` | data on the device, and which samples are whose | 03 |
| `models.py`, `wrapping.py`, `training.py` | the model, DDP around it, the training step | 04 |
| `launch.py`, `errors.py` | starting ranks, and ending them with one message | 05 |
| `checkpoint.py` | saving and resuming | 06 |
| `evaluation.py` | exact evaluation on all ranks | 07 |
| `optimization.py` | optimizer and learning rate | 08 |
| `config.py`, `report.py` | command line; progress bar, log lines and metrics | |
"""
