// The public plugin's recall, one answer a line: node plugin.mjs CORE.js ROOT CWD
// Each line of input is {"query"}; each line of output {"ms", "matches"}, timed around the call.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [corePath, root, cwd] = process.argv.slice(2);
const core = await import(pathToFileURL(corePath).href);
const engine = new core.WorkspaceMemoryEngine({
  store: new core.WorkspaceMemoryStore(root),
  distill: async () => ({ version: 1, operations: [] }),
});
for await (const line of createInterface({ input: process.stdin })) {
  const { query } = JSON.parse(line);
  const started = performance.now();
  const context = await engine.recall({ cwd, query });
  const ms = performance.now() - started;
  console.log(JSON.stringify({ ms, matches: context.matches.length }));
}
