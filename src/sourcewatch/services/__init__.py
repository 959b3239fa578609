"""What the program does: check, run, publish."""
