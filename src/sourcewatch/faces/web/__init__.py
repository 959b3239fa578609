"""The web face: what readers, editors and scripts ask over HTTP."""
