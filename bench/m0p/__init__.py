"""Cross-check of estimated cycles: rp2040js emulates a Cortex-M0+ and counts its cycles."""
