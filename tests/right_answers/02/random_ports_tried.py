"""
why: draws random ports until one can be bound, instead of asking for port 0
exercise: 2.4
"""
import random
import socket


def find_free_port():
    draw = random.SystemRandom()
    while True:
        port = draw.randrange(20000, 32000)
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
            try:
                s.bind(("0.0.0.0", port))
            except OSError:
                continue
            return port
