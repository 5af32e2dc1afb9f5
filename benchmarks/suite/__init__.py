"""The benchmark suite: rounds in which every contestant does the same work, one after the other."""
