// The public plugin behind a pipe, started by run.py:
//   node plugin.mjs CORE.js ROOT
// One request a line in, {call, at, input}; one answer a line out, {value} or {error}. `at` is the
// time in milliseconds for everything the call does: with one clock, both programs give one score.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [corePath, root] = process.argv.slice(2);
const core = await import(pathToFileURL(corePath).href);

let now = 0;
Date.now = () => now;
let proposed = [];
let distilled = null;
const store = new core.WorkspaceMemoryStore(root, { now: () => now });
const engine = new core.WorkspaceMemoryEngine({
  store,
  distill: async (request) => {
    distilled = request.messages;
    return { version: 1, operations: proposed };
  },
});

const calls = {
  recall: (input) => engine.recall(input),
  remember: (input) => engine.remember(input),
  forget: (input) => engine.forget(input),
  async checkpoint({ operations, ...input }) {
    proposed = operations ?? [];
    distilled = null;
    const result = await engine.checkpoint(input);
    return { result, distilled };
  },
  async scopes() {
    const named = (scopes) => scopes.map(({ key, cwd }) => ({ key, cwd }));
    const live = named(await store.listScopes());
    return { live, archived: named(await store.listArchivedScopes()) };
  },
  async snapshot({ cwd }) {
    const { summary, entries, state } = await store.readSnapshot(store.scope(cwd));
    return { summary, entries, state };
  },
  archive: ({ cwd }) => store.archiveScope(store.scope(cwd)),
  async rewrite({ cwd, maxBytes }) {
    const scope = store.scope(cwd);
    const entries = await store.readEntries(scope);
    await store.writeEntries(scope, entries);
    await store.rebuildSummary(scope, entries, maxBytes);
    return null;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { call, at, input } = JSON.parse(line);
  now = at;
  let answer;
  try {
    answer = { value: (await calls[call](input)) ?? null };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
