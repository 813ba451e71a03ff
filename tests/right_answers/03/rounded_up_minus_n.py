"""
why: the padded length minus n
exercise: 3.4
"""
import math


def padding_count(n, world_size):
    return math.ceil(n / world_size) * world_size - n
