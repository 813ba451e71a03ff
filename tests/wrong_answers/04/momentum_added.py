"""
symptom: other weights than with plain SGD
source: own
exercise: 4.8
says: SGD with momentum was used
"""
import torch
import torch.nn.functional as F
from torch.distributed.algorithms.join import Join


def train_uneven(ddp_model, batches, *, lr=0.1):
    optimizer = torch.optim.SGD(ddp_model.parameters(), lr=lr, momentum=0.9)
    with Join([ddp_model]):
        return [train_step(ddp_model, batch, optimizer, F.mse_loss) for batch in batches]
