"""Rushlight: PyTorch to Arm Cortex-M."""
