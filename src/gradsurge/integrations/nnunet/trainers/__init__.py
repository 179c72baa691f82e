"""What nnU-Net is shown: one module, and nothing else that it would import in its search."""
