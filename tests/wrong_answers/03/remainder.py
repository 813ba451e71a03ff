"""
symptom: padding is miscounted
source: own
exercise: 3.4
says: not how many it lacks
"""
def padding_count(n, world_size):
    return n % world_size
