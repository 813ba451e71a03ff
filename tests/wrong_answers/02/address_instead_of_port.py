"""
symptom: TypeError: an integer is required
source: own
exercise: 2.4
says: tuple
"""
import socket


def find_free_port():
    with socket.socket() as s:
        s.bind(("", 0))
        return s.getsockname()
