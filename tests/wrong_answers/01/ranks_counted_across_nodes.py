"""
symptom: node 0 gets ranks 0, 2, 4; torchrun numbers them 0, 1, 2
source: own (right for two processes in all only)
exercise: 1.2
says: global_rank(node_rank=0, local_rank=1
"""
def global_rank(node_rank, local_rank, nproc_per_node):
    return local_rank * nproc_per_node + node_rank
