"""
why: every output gets zero times the sum of all parameters, so that none is unused
exercise: 4.7
"""
from torch.nn.parallel import DistributedDataParallel
from torch.utils._pytree import tree_map


def wrap_with_unused(model):
    def use_all(module, args, outputs):
        nothing = sum(p.sum() for p in module.parameters() if p.requires_grad) * 0.0
        return tree_map(lambda output: output + nothing, outputs)

    model.register_forward_hook(use_all)
    return DistributedDataParallel(model)
