// A second client of the daemon: a script that speaks its protocol over stdio.
import { spawn } from "node:child_process";
import { join } from "node:path";

/** Start a client on the data folder of an editor; `call` sends a request, `end` closes the connection. */
export async function startClient({ root, env }) {
  const server = spawn(join(root, ".venv/bin/midstream"), ["serve", "--rehearsal"], { env, stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  let held = Buffer.alloc(0);
  server.stdout.on("data", (bytes) => {
    held = Buffer.concat([held, bytes]);
    for (;;) {
      const head = held.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/.exec(held.toString("latin1", 0, Math.max(head, 0)))?.[1]);
      if (head < 0 || held.length < head + 4 + length) return;
      const message = JSON.parse(held.toString("utf8", head + 4, head + 4 + length));
      held = held.subarray(head + 4 + length);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  let id = 0;
  const send = (message) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const call = async (method, params) => {
    const mine = (id += 1);
    const answer = new Promise((resolve) => waiting.set(mine, resolve));
    send({ id: mine, method, params });
    const { result, error } = await answer;
    if (error) throw new Error(error.message);
    return result;
  };
  await call("initialize", { processId: process.pid, rootUri: null, capabilities: {}, initializationOptions: { native: true } });
  send({ method: "initialized", params: {} });
  return { call, end: () => server.stdin.end() };
}
