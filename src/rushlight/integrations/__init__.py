"""Rushlight inside other programs: a torch module of a compiled model."""
