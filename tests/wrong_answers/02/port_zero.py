"""
symptom: every rank listens somewhere else
source: own
exercise: 2.4
says: any port
"""
def find_free_port():
    return 0
