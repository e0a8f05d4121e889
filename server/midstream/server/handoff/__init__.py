"""How the next provider catches up: which strategy, what is told, how it is laid out. Pure; knows no provider."""
