"""
symptom: slices and device indices that are floats raise TypeError
source: own
exercise: 1.2
says: / makes a float
"""
def locate(rank, nproc_per_node):
    local_rank = rank % nproc_per_node
    return (rank - local_rank) / nproc_per_node, local_rank
