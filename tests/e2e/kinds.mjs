// All four kinds of proof at once, each as Curio asks for it; what is wrong in the kinds' own fields is refused.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Client, PARAMS, VECTORS, refused, run, sleep, step, submit, verifies, withDaemon } from './daemon.mjs';

const hex = (text) => Buffer.from(text, 'hex');
const expected = (name) => JSON.parse(readFileSync(join(VECTORS, name, 'expected.json')));
const files = (name) => readdirSync(join(VECTORS, name)).filter((f) => /^vanilla-\d+\.bin$/.test(f)).sort().map((f) => join(VECTORS, name, f));
const MINER = 1000; // no PoSt's challenge depends on it
const PLACES = 2; // sectors of a 2 KiB window partition

// The request of a vector; `partition` of those that have several.
const NUMBER = { winning: 0, 'window-v1': 5, 'window-v1_2': 10, 'window-v1_2-two': 10 };
const post = (name, id, partition = 0) => {
  const window = name !== 'winning', all = files(name);
  return {
    request_id: id,
    proof_kind: window ? 'WINDOW_POST_PARTITION' : 'WINNING_POST',
    sector_size: 2048,
    registered_proof: NUMBER[name],
    vanilla_proofs: (window ? all.slice(PLACES * partition, PLACES * (partition + 1)) : all).map((f) => readFileSync(f)),
    randomness: hex(expected(name).randomness),
    miner_id: MINER,
    partition_index: partition,
  };
};
const snap = (id) => {
  const e = expected('update');
  return {
    request_id: id,
    proof_kind: 'SNAP_DEALS_UPDATE',
    sector_size: 2048,
    registered_proof: 0,
    vanilla_proofs: files('update').map((f) => readFileSync(f)),
    sector_number: 1,
    miner_id: MINER,
    comm_r_old: hex(e.comm_r_old),
    comm_r_new: hex(e.comm_r_new),
    comm_d_new: hex(e.comm_d_new),
  };
};

// The parameters' key that fits: by the file's name and, for the two PoSts, by which of them accepts.
const keys = (prefix) => readdirSync(PARAMS).filter((f) => f.startsWith(prefix) && f.endsWith('.vk')).map((f) => join(PARAMS, f));

// True when `cuzk verify` accepts the proof (of all partitions) for a vector.
const valid = async (folder, name, proof) => {
  const file = join(folder, `${name}.proof`), e = expected(name), update = name === 'update';
  writeFileSync(file, proof);
  const options = update
    ? ['--type', 'update', '--registered-proof', e.registered_update_proof, '--comm-r-old', e.comm_r_old, '--comm-r-new', e.comm_r_new, '--comm-d-new', e.comm_d_new]
    : ['--type', name === 'winning' ? 'winning' : 'window', '--registered-proof', e.registered_post_proof, '--randomness', e.randomness, '--prover-id', e.prover_id];
  for (const vk of keys(update ? 'v28-empty-sector-update-merkletree' : 'v28-proof-of-spacetime-fallback-')) {
    const { status } = await run('cuzk', ['verify', ...options, '--vanilla', ...files(name), '--vk', vk, '--proof', file]);
    if (status === 0) return true;
  }
  return false;
};

await withDaemon({ budget: '4GiB' }, async (daemon) => {
  const client = new Client(daemon.socket);
  const prove = async (request) => {
    const r = await client.prove(request, 1800e3);
    assert.equal(r.status, 'COMPLETED', r.error_message);
    assert.equal(r.proof.length, 192);
    return r.proof;
  };

  await step('what is wrong in a request is refused', async () => {
    const ask = (request) => client.call('Prove', { submit: request }, 60e3);
    const bad = [
      [{ ...post('winning', 'b'), randomness: Buffer.alloc(31) }, 'randomness'],
      [{ ...post('winning', 'b'), randomness: Buffer.alloc(32, 255) }, 'randomness'],
      [{ ...post('winning', 'b'), registered_proof: 5 }, 'registered_proof'],
      [{ ...post('winning', 'b'), sector_size: 8 << 20, registered_proof: 5 }, 'registered_proof'],
      [{ ...post('winning', 'b'), vanilla_proofs: [] }, 'vanilla_proofs'],
      [{ ...post('winning', 'b'), vanilla_proofs: [Buffer.from('x')] }, 'vanilla proof 0'],
      [{ ...post('winning', 'b'), partition_index: 1 }, 'partition_index'],
      [{ ...post('window-v1', 'b'), registered_proof: 0 }, 'registered_proof'],
      [{ ...post('window-v1', 'b'), registered_proof: 15 }, 'registered_proof'],
      [{ ...post('window-v1', 'b'), sector_size: 8 << 20 }, 'sector_size'],
      [{ ...post('window-v1', 'b'), vanilla_proofs: files('window-v1').map((f) => readFileSync(f)) }, 'vanilla_proofs'],
      // Right in form, wrong in substance: another rule for challenges, another randomness, a flipped bit.
      [{ ...post('window-v1', 'b'), registered_proof: 10 }, 'challenge'],
      [{ ...post('winning', 'b'), randomness: Buffer.alloc(32, 7) }, 'challenge 0'],
      [{ ...post('window-v1', 'b', 1), partition_index: 0 }, 'sector'],
      [{ ...snap('b'), comm_d_new: Buffer.alloc(0) }, 'comm_d_new'],
      [{ ...snap('b'), comm_r_old: Buffer.alloc(32, 255) }, 'comm_r_old'],
      [{ ...snap('b'), comm_r_new: snap('b').comm_r_old }, 'comm_r_new'],
      [{ ...snap('b'), registered_proof: 5 }, 'registered_proof'],
      [{ ...snap('b'), registered_proof: 3, sector_size: 0 }, 'partitions'],
      [{ ...snap('b'), vanilla_proofs: [] }, 'vanilla_proofs'],
    ];
    for (const [request, word] of bad) await refused(ask(request), 'INVALID_ARGUMENT', word);
    const flipped = post('window-v1_2', 'b');
    flipped.vanilla_proofs[1] = Buffer.from(flipped.vanilla_proofs[1]);
    flipped.vanilla_proofs[1][200] ^= 1;
    console.log(`   ${await refused(ask(flipped), 'INVALID_ARGUMENT', 'vanilla')}`);
    assert.equal((await client.status()).total_proofs_failed, 0);
  });

  await step('all kinds at once', async () => {
    const [porep, update, winning, two, ...window] = await Promise.all([
      prove(submit('porep-v1_1', 'porep-1000-1')),
      prove(snap('snap-1000-1')),
      prove(post('winning', 'winpost-1000-a')),
      prove(post('window-v1_2-two', 'wdpost-1000-0-b')),
      ...['window-v1', 'window-v1_2'].flatMap((name) => [0, 1].map((k) => prove(post(name, `wdpost-1000-${name}-${k}`, k)))),
    ]);
    assert.equal(await verifies(daemon.folder, 'porep-v1_1', porep), true);
    assert.equal(await valid(daemon.folder, 'update', update), true);
    assert.equal(await valid(daemon.folder, 'winning', winning), true);
    assert.equal(await valid(daemon.folder, 'window-v1_2-two', two), true);
    assert.equal(await valid(daemon.folder, 'window-v1', Buffer.concat(window.slice(0, 2))), true);
    assert.equal(await valid(daemon.folder, 'window-v1_2', Buffer.concat(window.slice(2))), true);
    assert.equal(await valid(daemon.folder, 'window-v1', Buffer.concat(window.slice(2))), false);
  });

  await step('queues, circuits, one line a job', async () => {
    const s = await client.status();
    assert.equal(s.total_proofs_completed, 8);
    assert.deepEqual(s.loaded_srs.map((x) => x.circuit_id).sort(), ['porep-2k', 'snap-2k', 'winning-2k', 'wpost-2k']);
    const { prometheus_text: text } = await client.call('GetMetrics', {});
    for (const [kind, n] of [['porep_c2', 1], ['snap_update', 1], ['window_post', 5], ['winning_post', 1]]) {
      assert.ok(text.includes(`cuzk_proofs_completed_total{proof_kind="${kind}"} ${n}\n`), kind);
    }
    for (const id of ['wpost-2k', 'snap-2k']) assert.equal((await client.call('PreloadSRS', { circuit_id: id }, 60e3)).already_loaded, true);
    await refused(client.call('PreloadSRS', { circuit_id: 'wpost-8m' }, 60e3), 'NOT_FOUND', 'v28-proof-of-spacetime-fallback');
    await daemon.logged(/(: proved in[^]*){8}/);
    assert.equal(daemon.log.match(/: proved in/g).length, 8);
  });

  await step('cuzk-bench', async () => {
    const bench = async (...args) => {
      const r = await run('cuzk-bench', ['-a', daemon.socket, 'single', '--json', ...args]);
      assert.equal(r.status, 0, r.stderr);
      return Buffer.from(JSON.parse(r.stdout).proof, 'hex');
    };
    const e = expected('window-v1_2-two'), array = join(daemon.folder, 'array.json');
    const args = ['-t', 'wpost', '--registered-proof', '10', '--randomness', e.randomness, '--miner-id', `${MINER}`];
    writeFileSync(array, JSON.stringify(files('window-v1_2-two').map((f) => readFileSync(f).toString('base64'))));
    assert.equal(await valid(daemon.folder, 'window-v1_2-two', await bench(...args, '--vanilla', array)), true);
    assert.equal(await valid(daemon.folder, 'window-v1_2-two', await bench(...args, '--vanilla', ...files('window-v1_2-two'))), true);
    const w = await bench('-t', 'winning', '--vanilla', ...files('winning'), '--randomness', expected('winning').randomness);
    assert.equal(await valid(daemon.folder, 'winning', w), true);
    const u = expected('update');
    const p = await bench('-t', 'snap', '--vanilla', ...files('update'), '--comm-r-old', u.comm_r_old, '--comm-r-new', u.comm_r_new, '--comm-d-new', u.comm_d_new);
    assert.equal(await valid(daemon.folder, 'update', p), true);
  });
  client.close();
  assert.equal((await daemon.stop()).code, 0);
});

// A damaged point gives two proofs that do not verify: the job fails, nothing leaves, and the log says which point.
await step('a damaged point of the parameters', async () => {
  const vk = keys('v28-proof-of-spacetime-fallback-').sort((a, b) => statSync(a).size - statSync(b).size)[0]; // window
  const bytes = readFileSync(vk.replace(/vk$/, 'params'));
  bytes[statSync(vk).size + 4 + 96 * 3000 + 47] ^= 1; // x of h[3000]
  const params = mkdtempSync(join(tmpdir(), 'cuzk-e2e-params-'));
  try {
    writeFileSync(join(params, basename(vk).replace(/vk$/, 'params')), bytes);
    await withDaemon({ params }, async (daemon) => {
      const client = new Client(daemon.socket);
      const result = await client.prove(post('window-v1_2-two', 'wdpost-1000-0-c'), 60e3);
      assert.equal(result.status, 'FAILED');
      assert.equal(result.proof.length, 0);
      assert.match(result.error_message, /parameter file is/);
      const { prometheus_text: text } = await client.call('GetMetrics', {});
      assert.match(text, /^cuzk_partition_retries_total 1$/m);
      for (const until = Date.now() + 60e3; !daemon.log.includes('h[3000]') && Date.now() < until;) await sleep(50);
      assert.match(daemon.log, /is damaged: .*h\[3000\]/);
      console.log(`   ${result.error_message}`);
      client.close();
    });
  } finally {
    rmSync(params, { recursive: true, force: true });
  }
});
