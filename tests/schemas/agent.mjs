// A coding agent with the public TypeScript client of the Model Context Protocol: with a handshake, and without.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [binary, root] = process.argv.slice(2);
const expected = {
  "2025-11-25": {},
  "2026-07-28": { versionNegotiation: { mode: "auto" } },
};
for (const [version, options] of Object.entries(expected)) {
  const client = new Client({ name: "check", version: "1" }, options);
  await client.connect(new StdioClientTransport({ command: binary, args: ["mcp", "--root", root] }));
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name).join(" ");
  const read = await client.callTool({ name: "inspect", arguments: {} });
  const refused = await client.callTool({ name: "inspect", arguments: { root: "/" } });
  const unknown = await client.callTool({ name: "lock" }).then(() => "no error", (error) => error.code);
  const seen = [client.getNegotiatedProtocolVersion(), names, read.structuredContent.modules?.length > 0, refused.isError, unknown];
  const wanted = [version, "roots inspect versions explain verify diff lock_plan update_plan", true, true, -32602];
  if (JSON.stringify(seen) !== JSON.stringify(wanted)) {
    throw new Error(`expected ${JSON.stringify(wanted)}, got ${JSON.stringify(seen)}`);
  }
  await client.close();
  console.log(`agent.mjs, ${version}: works`);
}
