"""The wire: JSON-RPC connections over one engine, built on pygls."""
