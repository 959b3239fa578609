"""sourcewatch keeps a citing web site honest."""

__version__ = "0.1.0"
