"""nnU-Net from outside: where it is installed, and what it leaves behind."""
