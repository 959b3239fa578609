"""People and machines come in here."""
