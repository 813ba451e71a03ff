"""
symptom: two jobs that start at the same moment get the same port
source: own
exercise: 2.4
says: two jobs
"""
import socket


def find_free_port():
    port = 29500
    while True:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)):
                return port
        port += 1
