"""The world: one foreign package, one room."""
