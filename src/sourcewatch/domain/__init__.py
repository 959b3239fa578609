"""Values: frozen dataclasses, standard library only."""
