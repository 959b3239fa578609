"""Pure functions: the same bytes give the same judgement, on any machine."""
