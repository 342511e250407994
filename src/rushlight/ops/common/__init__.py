"""What several operators share: arithmetic, windows, weight packing, the shapes of kernels' loops. No operator stands here."""
