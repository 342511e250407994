"""Reports of compiled programs."""

from rushlight.report.report import Build, Layer, Report

__all__ = ["Build", "Layer", "Report"]
