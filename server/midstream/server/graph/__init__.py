"""The thread graph: pure state, commands, decisions and events. No I/O, no clock, no randomness."""
