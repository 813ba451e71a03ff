"""
why: computes with a graph and cuts it off
exercise: 4.6
"""
def extract_features(ddp_model, x):
    inner = ddp_model
    while hasattr(inner, "module"):
        inner = inner.module
    modes = {name: m.training for name, m in inner.named_modules()}
    inner.eval()
    features = inner.features(x).detach()
    for name, m in inner.named_modules():
        m.training = modes[name]
    return features
