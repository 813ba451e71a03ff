"""
symptom: all ranks wait, each at another port
source: course list of mistakes (each rank calls find_free_port)
exercise: 2.4
says: port of its own
"""
def share_free_port(store, rank):
    return find_free_port()
