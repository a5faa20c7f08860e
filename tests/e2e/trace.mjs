// cuzk-daemon --trace and cuzk-bench waterfall: what was proved is in the timeline, also of a daemon that was killed.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, run, step, submit, withDaemon } from './daemon.mjs';

const waterfall = async (...args) => {
  const { status, stdout, stderr } = await run('cuzk-bench', ['waterfall', ...args]);
  return { status, text: stdout, error: stderr };
};
const STAGES = [
  ...['expand', 'eval', 'h', 'H', 'L', 'A', 'B1', 'B2'].map((name) => `device ${name}`),
  ...['assign', 'compute', 'finish', 'verify'].map((name) => `host ${name}`),
];

await step('two proofs: a daemon that runs, and after its end', () =>
  withDaemon({ args: (folder) => ['--cpu', '--trace', join(folder, 'trace.json')] }, async (daemon) => {
    const file = join(daemon.folder, 'trace.json');
    const client = new Client(daemon.socket);
    const jobs = [];
    for (const id of ['porep-1000-1', 'porep-1000-2']) {
      const result = await client.prove(submit('porep-v1_1', id));
      assert.equal(result.status, 'COMPLETED', result.error_message);
      jobs.push(result.job_id);
    }
    client.close();
    // Flushed when a job ends, at the latest before the next one's end.
    const running = await waterfall(file);
    assert.equal(running.status, 0, running.error);
    assert.match(running.text, /device cpu worker 0 stream\n +#1 p0 .*H/);
    assert.match(running.text, /The file has no end/);
    assert.deepEqual(await daemon.stop(), { code: 0, signal: null });

    const spans = JSON.parse(readFileSync(file, 'utf8')).filter((e) => e.ph === 'X');
    for (const job of jobs) {
      const names = spans.filter((e) => e.args.job === job && e.args.partition === 0);
      assert.equal(names.length, STAGES.length, JSON.stringify(names));
      const at = (name) => names.find((e) => e.name === name);
      for (const part of ['L', 'H']) {
        assert.ok(at(part).ts >= at('compute').ts && at(part).ts + at(part).dur <= at('compute').ts + at('compute').dur);
      }
      assert.ok(at('assign').ts + at('assign').dur <= at('compute').ts);
    }

    const after = await waterfall('--width', '90', file);
    assert.equal(after.status, 0, after.error);
    for (const n of [1, 2]) assert.match(after.text, new RegExp(`^ +#${n} p0 .*H`, 'm'));
    assert.match(after.text, /cpu: busy [0-9.]+ % of [0-9.]+ s, 2 partitions/);
    assert.doesNotMatch(after.text, /no end/);
    assert.ok(after.text.split('\n').filter((l) => /^ +#/.test(l)).every((l) => l.length <= 90));
    const json = JSON.parse((await waterfall(file, '--json')).text);
    assert.deepEqual(json.devices.map((d) => [d.name, d.streams, d.partitions]), [['cpu', 1, 2]]);
    assert.deepEqual(json.stages.filter((s) => s.on !== 'beside').map((s) => `${s.on} ${s.name}`).sort(), [...STAGES].sort());
    assert.ok(json.stages.every((s) => s.times === (s.name === 'srs load' ? 1 : 2)), JSON.stringify(json.stages));
    // Between the proofs the device has nothing to do: what lies between two parts is told, to the millisecond.
    const work = spans.filter((e) => e.args.partition === 0 && ['H', 'expand'].includes(e.name)).sort((a, b) => a.ts - b.ts);
    const idle = (work[2].ts - work[1].ts - work[1].dur) / 1000;
    const told = json.devices[0].gaps.find((g) => Math.abs(g.at_ms - (work[1].ts + work[1].dur) / 1000) < 1);
    assert.ok(idle < 5 ? !told : Math.abs(told.ms - idle) < 1, `${idle}: ${JSON.stringify(json.devices[0].gaps)}`);
  }));

await step('a view within one part of a partition shows it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cuzk-e2e-trace-'));
  try {
    const file = join(folder, 'trace.json');
    const part = (name, ts, dur) => ({ ph: 'X', name, tid: 1, ts: ts * 1000, dur: dur * 1000, args: { job: 'job-1', partition: 7 } });
    const track = { ph: 'M', name: 'thread_name', tid: 1, args: { name: 'device x worker 0 stream' } };
    writeFileSync(file, JSON.stringify([track, part('expand', 0, 10), part('H', 100, 800), part('L', 1000, 10)]));
    const view = await waterfall('--from', '300', '--to', '700', '--width', '90', file);
    assert.equal(view.status, 0, view.error);
    assert.match(view.text, /^ +#1 p7 +H{74}$/m);
    assert.match(view.text, /x: busy 100\.0 % of 0\.400 s, 1 partitions/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

await step('errors: files that are no trace, a path that cannot be written', () =>
  withDaemon({}, async (daemon) => {
    const bad = async (text, ...words) => {
      const file = join(daemon.folder, 'bad.json');
      if (text !== undefined) writeFileSync(file, text);
      const r = await waterfall(text === undefined ? join(daemon.folder, 'none.json') : file);
      assert.equal(r.status, 1, r.text);
      for (const word of words) assert.ok(r.error.includes(word), r.error);
    };
    await bad(undefined, 'none.json');
    await bad('', 'empty');
    await bad('{"traceEvents":[]}', 'array of events');
    await bad('[{"ph":"X" "name"', 'not JSON, at byte 1');
    await bad('[{"ph":"X","tid":7,"ts":1,"dur":1}]', 'no track');
    await bad('[]', 'no device');
    assert.equal((await waterfall()).status, 2);
    assert.ok(!existsSync(join(daemon.folder, 'no')));
    const r = await run('cuzk-daemon', ['-c', daemon.config, '--trace', join(daemon.folder, 'no', 'trace.json')]);
    assert.equal(r.status, 1);
    assert.match(r.stderr, /no\/trace\.json: No such file/);
  }));
