"""
symptom: EADDRINUSE: the port is held by the socket that found it
source: own (side effects left)
exercise: 2.4
says: still open
"""
import socket

found = []


def find_free_port():
    s = socket.socket()
    s.bind(("", 0))
    s.listen()
    found.append(s)
    return s.getsockname()[1]
