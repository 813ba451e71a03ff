"""
symptom: the optimizer changes nothing
source: own (kind: side effect)
exercise: 4.1
says: other objects than before
"""
import torch.distributed as dist



def broadcast_model(model):
    buffers = dict(model.named_buffers())
    box = [(model.state_dict(), buffers)]
    dist.broadcast_object_list(box, src=0)
    state, sent = box[0]
    model.load_state_dict(state, assign=True)
    for name, buffer in model.named_buffers():
        buffer.copy_(sent[name])
