"""An MCP server over stdio with one tool, which looks a word up, and has no answer to `nothing`."""

import json
import sys
import time

TOOL = {
    "name": "look_up",
    "description": "Looks a word up.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
}

if "--slow" in sys.argv:
    time.sleep(3)  # as long as a server takes that has much to load
for line in sys.stdin:
    message = json.loads(line)
    match message:
        case {"method": "tools/call", "params": {"arguments": {"word": "nothing"}}}:
            continue
        case {"method": "initialize", "params": {"protocolVersion": version}}:
            about = {"name": "notes", "version": "1"}
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case {"method": "tools/list"}:
            result = {"tools": [TOOL]}
        case {"method": "tools/call", "params": {"arguments": {"word": word}}}:
            result = {"content": [{"type": "text", "text": f"{word} is here"}]}
        case _:
            result = {}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
