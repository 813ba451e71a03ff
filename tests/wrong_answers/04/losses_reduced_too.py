"""
symptom: gradients as large as with the sum
source: own
exercise: 4.5
says: were summed up, but not divided
"""
def weighted_loss(losses):
    return losses.sum()
