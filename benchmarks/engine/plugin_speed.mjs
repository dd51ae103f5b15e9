// Stages of the public plugin over the same store; started by engine_speed.py:
//   node plugin_speed.mjs CORE.js JOB.json
// JOB: {root, cwd, stages: [{message, contents}]}; prints {stage_ms, commit_ms}.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [corePath, jobPath] = process.argv.slice(2);
const core = await import(pathToFileURL(corePath).href);
const job = JSON.parse(readFileSync(jobPath, 'utf8'));

let contents = [];
let answered = 0;
const engine = new core.WorkspaceMemoryEngine({
  store: new core.WorkspaceMemoryStore(job.root),
  distill: async () => {
    answered = performance.now();
    return { version: 1, operations: contents.map((content) => ({ op: 'add', content })) };
  },
});

const stageMs = [];
const commitMs = [];
for (const [number, stage] of job.stages.entries()) {
  contents = stage.contents;
  const started = performance.now();
  const result = await engine.checkpoint({
    cwd: job.cwd,
    reason: 'task-end',
    messages: [{ id: `bench-${number}`, role: 'user', text: stage.message }],
  });
  if (result.status !== 'committed') throw new Error(JSON.stringify(result));
  stageMs.push(performance.now() - started);
  commitMs.push(performance.now() - answered);
}
console.log(JSON.stringify({ stage_ms: stageMs, commit_ms: commitMs }));
