"""Request handlers, one module for each family."""
