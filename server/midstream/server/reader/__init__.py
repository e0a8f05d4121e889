"""`midstream reader`: an MCP server through which an agent reads what a handoff left out. Nothing here writes."""
