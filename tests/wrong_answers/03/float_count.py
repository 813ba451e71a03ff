"""
symptom: range() refuses it
source: own
exercise: 3.4
says: not an int
"""
def padding_count(n, world_size):
    return (-(-n // world_size) - n / world_size) * world_size
