"""The four nets of MLPerf Tiny as ``nn.Module``s: image classification, keywords, visual wake words, anomaly detection."""

from examples.mlperf_tiny.nets import NETS, build, example_inputs, load_reference_weights

__all__ = ["NETS", "build", "example_inputs", "load_reference_weights"]
