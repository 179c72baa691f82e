"""One case, gathered from wherever its scan, label, mask and probability maps lie."""
