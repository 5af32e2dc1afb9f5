"""Tables of the languages that answers are read in: which words say who acted, when, and in which mood."""
