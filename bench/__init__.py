"""Counts the instructions of every layer of the yardstick nets, on six cores under two compilers: ``python -m bench``."""
