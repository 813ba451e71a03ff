"""
symptom: small local batches count too much
source: course list of corrections (3.0 instead of 2.0)
exercise: 4.5
says: the mean of the ranks' means
"""
def weighted_loss(losses):
    return losses.mean() if losses.numel() else losses.sum()
