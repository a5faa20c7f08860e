// Starting and ending: addresses in use, configurations that are wrong, SIGTERM once and twice.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Daemon, refused, run, sleep, step, submit, verifies, withDaemon } from './daemon.mjs';

const NAME = 'porep-v1_1';
const started = async (client) => {
  while ((await client.status()).queues.every((q) => q.in_progress === 0)) await sleep(20);
};

await step('SIGTERM: the running proof is finished, new work is refused, exit 0', () =>
  withDaemon({}, async (daemon) => {
    const client = new Client(daemon.socket), late = new Client(daemon.tcp);
    await late.status();
    const proof = client.prove(submit(NAME, 'porep-1000-1'));
    await started(client);
    const exited = daemon.stop();
    await daemon.logged(/signal 15: no new work/);
    await sleep(100);
    await refused(late.prove(submit('porep-v1', 'porep-1000-2')), 'UNAVAILABLE');
    assert.equal(daemon.over, undefined);
    const result = await proof;
    assert.equal(result.status, 'COMPLETED', result.error_message);
    assert.deepEqual(await exited, { code: 0, signal: null });
    assert.equal(await verifies(daemon.folder, NAME, result.proof), true);
    assert.ok(!existsSync(join(daemon.folder, 'cuzk.sock')), 'the socket is left behind');
    client.close();
    late.close();
  }));

await step('a second SIGTERM ends it at once; its socket is taken over by the next', () =>
  withDaemon({}, async (daemon) => {
    const client = new Client(daemon.socket);
    const proof = client.prove(submit(NAME, 'porep-1000-1')).then(() => 'proved', () => 'lost');
    await started(client);
    const exited = daemon.stop();
    await daemon.logged(/signal 15: no new work/); // or the two would be one
    const start = Date.now();
    daemon.stop();
    const { code } = await exited;
    assert.ok(Date.now() - start < 2000);
    assert.notEqual(code, 0);
    assert.equal(await proof, 'lost');
    client.close();
    assert.ok(existsSync(join(daemon.folder, 'cuzk.sock')));
    const next = await Daemon.start({ folder: daemon.folder });
    assert.equal((await next.stop()).code, 0);
  }));

await step('addresses in use', () =>
  withDaemon({}, async (daemon) => {
    for (const address of [daemon.socket, daemon.tcp]) {
      const second = await Daemon.start({ listen: [address] });
      const { code } = await second.exited;
      assert.equal(code, 1);
      assert.match(second.log, /in use/);
      assert.ok(second.log.includes(address.replace('unix://', '')), second.log);
      second.clean();
    }
    const client = new Client(daemon.socket); // the first still has it
    await client.status();
    client.close();
    assert.equal((await daemon.stop('SIGINT')).code, 0);
  }));

await step('--check-config', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cuzk-e2e-config-'));
  const file = join(folder, 'c.toml');
  const check = async (text, status, ...words) => {
    writeFileSync(file, text);
    const r = await run('cuzk-daemon', ['-c', file, '--check-config']);
    assert.equal(r.status, status, `${text}\n${r.stdout}${r.stderr}`);
    for (const word of words) assert.ok(`${r.stdout}${r.stderr}`.includes(word), `${text}: ${r.stderr} does not name ${word}`);
  };
  try {
    await check('[daemon]\nlisten = "127.0.0.1:1"\n', 0, '127.0.0.1:1');
    // A file of the original loads; what has no effect is named.
    await check('[memory]\npinned_budget = "1GiB"\n[gpus]\ndevices = []\n[synthesis]\npartition_workers = 16\n[pipeline]\nenabled = true\nslot_size = 0\n', 0, 'pinned_budget', 'partition_workers');
    await check('[daemon]\n\nlisten_on = "x"\n', 1, 'listen_on', '3');
    await check('[deamon]\nlisten = "x"\n', 1, 'deamon', '1');
    await check('[memory]\ntotal_budget = "many"\n', 1, 'total_budget');
    await check('[memory]\ntotal_budget = 12.5\n', 1, 'total_budget');
    await check('[memory\n', 1, '1');
    await check('[daemon]\nlisten = ["127.0.0.1:1", "127.0.0.1:99999"]\n', 1, 'daemon.listen', '99999');
    await check('[daemon]\nlisten = "nowhere"\n', 1, 'daemon.listen', 'nowhere');
    const absent = await run('cuzk-daemon', ['-c', join(folder, 'absent.toml')]);
    assert.equal(absent.status, 1);
    assert.match(absent.stderr, /absent\.toml/);
    assert.equal((await run('cuzk-daemon', ['--nonsense'])).status, 2);
    assert.equal((await run('cuzk-daemon', ['--help'])).status, 0);
    const bad = await run('cuzk-daemon', ['--listen', 'nowhere']);
    assert.equal(bad.status, 1);
    assert.match(bad.stderr, /nowhere/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
