"""
symptom: node and local rank are exchanged
source: own
exercise: 1.2
says: the two numbers are swapped
"""
def locate(rank, nproc_per_node):
    return rank % nproc_per_node, rank // nproc_per_node
