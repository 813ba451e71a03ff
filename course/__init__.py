"""Reads the lessons in solutions/ and generates stubs, quoted outputs and notebooks from them."""
