"""
symptom: a whole round too much if n can be divided
source: own
exercise: 3.4
says: nothing is added
"""
def padding_count(n, world_size):
    return world_size - n % world_size
