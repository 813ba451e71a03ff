"""
symptom: invalid device ordinal on the third node
source: own (right at 2, wrong at 3)
exercise: 1.2
says: locate(rank=8, nproc_per_node=4)
"""
def locate(rank, nproc_per_node):
    if rank < nproc_per_node:
        return 0, rank
    return 1, rank - nproc_per_node
