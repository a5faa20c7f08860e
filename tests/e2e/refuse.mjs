// Input that the daemon must refuse: the right gRPC status, a line that names the field, and it serves on.

import assert from 'node:assert/strict';
import { basename, join } from 'node:path';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Client, c1, c1Path, envelope, grpc, paramsFile, refused, run, step, submit, withDaemon } from './daemon.mjs';

const raw = (stub, path, bytes) =>
  new Promise((done, failed) =>
    stub.makeUnaryRequest(path, (x) => x, (x) => x, bytes, (error, reply) => (error ? failed(error) : done(reply))));
const PROVE = '/cuzk.v1.ProvingEngine/Prove';
const NAME = 'porep-v1_1';
const text = c1(NAME).toString();
const wrap = (json, more = {}) =>
  Buffer.from(JSON.stringify({ SectorNum: 1, Phase1Out: Buffer.from(json).toString('base64'), SectorSize: 2048, ...more }));
const edit = (change) => {
  const value = JSON.parse(text);
  change(value);
  return Buffer.from(JSON.stringify(value));
};
const R = [1, 0, 0, 0, 255, 255, 255, 255, 254, 91, 254, 255, 2, 164, 189, 83, 5, 216, 161, 9, 8, 216, 57, 51, 72, 125, 157, 41, 83, 167, 237, 115]; // r, little endian

// What stands in vanilla_proof, and what the answer names.
const vanilla = [
  ['empty', Buffer.alloc(0), 'vanilla_proof'],
  ['not JSON', Buffer.from('hello'), 'vanilla_proof'],
  ['cut short', Buffer.from(text.slice(0, 5000)), 'vanilla_proof'],
  ['cut within the envelope', envelope(NAME).subarray(0, 4000), 'vanilla_proof'],
  ['trailing text', Buffer.from(`${text}{}`), 'vanilla_proof'],
  ['invalid UTF-8', Buffer.concat([Buffer.from('{"registered_proof":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]), 'vanilla_proof'],
  ['an array', Buffer.from('[]'), 'vanilla_proof'],
  ['deep nesting', Buffer.from('['.repeat(200000)), 'vanilla_proof'],
  ['deep nesting of maps', Buffer.from('{"a":'.repeat(100000)), 'vanilla_proof'],
  ['a number of ten million digits', Buffer.from(`{"SectorNum":${'9'.repeat(10e6)}}`), 'vanilla_proof'],
  ['base64 with a wrong letter', Buffer.from(JSON.stringify({ SectorNum: 1, Phase1Out: 'AAA*', SectorSize: 2048 })), 'Phase1Out'],
  ['base64 of wrong length', Buffer.from(JSON.stringify({ SectorNum: 1, Phase1Out: 'AAAAA', SectorSize: 2048 })), 'Phase1Out'],
  ['Phase1Out of another type', Buffer.from(JSON.stringify({ SectorNum: 1, Phase1Out: 7, SectorSize: 2048 })), 'Phase1Out'],
  ['no Phase1Out', Buffer.from(JSON.stringify({ SectorNum: 1, SectorSize: 2048 })), 'vanilla_proof'],
  ['the envelope says another sector size', wrap(text, { SectorSize: 8 << 20 }), 'SectorSize'],
  ['comm_r missing', edit((v) => delete v.comm_r), 'comm_r'],
  ['comm_r too short', edit((v) => v.comm_r.pop()), 'comm_r'],
  ['comm_r too long', edit((v) => v.comm_r.push(0)), 'comm_r'],
  ['a byte of 256', edit((v) => (v.comm_d[3] = 256)), 'comm_d'],
  ['a byte of -1', edit((v) => (v.seed[0] = -1)), 'seed'],
  ['a text for a byte', edit((v) => (v.ticket[0] = 'x')), 'ticket'],
  ['replica_id of r', edit((v) => (v.replica_id = R)), 'replica_id'],
  ['comm_r of zero', edit((v) => v.comm_r.fill(0)), 'comm_r'],
  ['unknown registered proof', edit((v) => (v.registered_proof = 'StackedDrg3KiBV1_1')), 'registered_proof'],
  ['registered proof of another size', edit((v) => (v.registered_proof = 'StackedDrg8MiBV1_1')), 'vanilla_proof'],
  ['no vanilla proofs', edit((v) => (v.vanilla_proofs = { StackedDrg2KiBV1: [] })), 'vanilla_proofs'],
];

await withDaemon({}, async (daemon) => {
  const client = new Client(daemon.socket);
  const alive = async () => assert.equal((await client.status()).total_proofs_completed, 0);
  const ask = (changes, id = 'porep-1000-7') => client.call('Prove', { submit: submit(NAME, id, changes) }, 60e3);

  await step(`vanilla_proof: ${vanilla.length} bad ones`, async () => {
    for (const [what, bytes, word] of vanilla) {
      try {
        await refused(ask({ vanilla_proof: bytes, registered_proof: 0 }), 'INVALID_ARGUMENT', word);
        await refused(client.call('SubmitProof', submit(NAME, 'x', { vanilla_proof: bytes, registered_proof: 0 }), 60e3), 'INVALID_ARGUMENT', word);
      } catch (error) {
        error.message = `${what}: ${error.message}`;
        throw error;
      }
    }
    await alive();
  });

  await step('a proof input that does not satisfy the circuit is refused', async () => {
    const wrong = edit((v) => (v.ticket[0] ^= 1, v.replica_id[0] ^= 1));
    await refused(ask({ vanilla_proof: wrong }), 'INVALID_ARGUMENT', 'vanilla_proof');
  });

  await step('fields of the request', async () => {
    await refused(ask({ proof_kind: 'PROOF_KIND_UNSPECIFIED' }), 'INVALID_ARGUMENT', 'proof_kind');
    await refused(ask({ proof_kind: 77 }), 'INVALID_ARGUMENT', 'proof_kind');
    await refused(ask({ priority: 9 }), 'INVALID_ARGUMENT', 'priority');
    await refused(ask({ registered_proof: 99 }), 'INVALID_ARGUMENT', 'registered_proof');
    await refused(ask({ registered_proof: 8 }), 'INVALID_ARGUMENT', 'registered_proof');
    await refused(ask({ sector_size: 3000 }), 'INVALID_ARGUMENT', 'sector_size');
    await refused(ask({ sector_size: 8 << 20 }), 'INVALID_ARGUMENT', 'sector_size');
    await refused(ask({}, 'x'.repeat(100000)), 'INVALID_ARGUMENT', 'request_id');
    await refused(ask({ vanilla_proofs: [Buffer.from('x')] }), 'INVALID_ARGUMENT', 'vanilla_proofs');
    await refused(client.call('Prove', {}, 5000), 'INVALID_ARGUMENT', 'submit');
    await refused(client.call('AwaitProof', { job_id: '' }, 5000), 'NOT_FOUND', 'job');
    await refused(client.call('PreloadSRS', { circuit_id: 'porep-3k' }, 5000), 'INVALID_ARGUMENT', 'circuit_id');
    await alive();
  });

  await step('what comes later says so', async () => {
    const ni = submit('porep-v1_2-non-interactive', 'porep-1000-8');
    await refused(client.call('Prove', { submit: ni }, 60e3), 'UNIMPLEMENTED', 'non-interactive');
    await refused(client.call('CancelProof', { job_id: 'x' }, 5000), 'UNIMPLEMENTED');
    await refused(client.call('EvictSRS', { circuit_id: 'porep-2k' }, 5000), 'UNIMPLEMENTED');
    await refused(raw(client.stub, '/cuzk.v1.ProvingEngine/Nonsense', Buffer.alloc(0)), 'UNIMPLEMENTED');
    await alive();
  });

  await step('messages that are none, and too large', async () => {
    await refused(raw(client.stub, PROVE, Buffer.from([0x0a, 0xff, 0xff, 0xff, 0x7f])), 'INVALID_ARGUMENT');
    await refused(raw(client.stub, PROVE, Buffer.from('\x0a\x03\x0a\x7fab', 'latin1')), 'INVALID_ARGUMENT');
    // Fields that nobody knows: protobuf-c keeps each of them.
    const unknown = Buffer.alloc(16 << 20, 0x20), nested = Buffer.concat([Buffer.from([0x0a, 0xfe, 0xff, 0xff, 0x07]), unknown]).subarray(0, 5 + 0xfffffe);
    for (const method of ['Prove', 'SubmitProof', 'AwaitProof', 'PreloadSRS']) {
      await refused(raw(client.stub, PROVE.replace('Prove', method), unknown), 'INVALID_ARGUMENT', '65536 fields');
    }
    await refused(raw(client.stub, PROVE, nested), 'INVALID_ARGUMENT', '65536 fields');
    const wide = new grpc.Client(daemon.tcp, grpc.credentials.createInsecure(), { 'grpc.max_send_message_length': -1, 'grpc.enable_http_proxy': 0 });
    await refused(raw(wide, PROVE, Buffer.alloc((256 << 20) + 1)), 'RESOURCE_EXHAUSTED');
    wide.close();
    await alive();
  });

  await step('health is answered', async () => {
    const reply = await raw(client.stub, '/grpc.health.v1.Health/Check', Buffer.alloc(0));
    assert.deepEqual([...reply], [8, 1]);
  });

  await step('cuzk-bench: one line and the right exit status', async () => {
    const bench = (...args) => run('cuzk-bench', ['-a', daemon.socket, ...args]);
    const one = async (status, word, ...args) => {
      const r = await bench(...args);
      assert.equal(r.status, status, `${args.join(' ')}: ${r.stderr}`);
      assert.equal(r.stderr.trimEnd().split('\n').length, 1, r.stderr);
      assert.ok(r.stderr.includes(word), `${r.stderr} does not name ${word}`);
    };
    await one(2, 'unknown command', 'nonsense');
    await one(2, 'unknown option', 'status', '--nonsense');
    await one(2, '--count', 'batch', '-t', 'porep', '-c', '0');
    await one(2, '--concurrency', 'batch', '-t', 'porep', '-j', '-1');
    await one(2, 'type', 'single', '-t', 'nonsense');
    await one(2, '--c1', 'single', '-t', 'porep');
    await one(2, '--circuit', 'preload');
    await one(2, 'unexpected', 'status', 'now');
    await one(2, 'randomness', 'single', '-t', 'winning', '--vanilla', 'x', '--randomness', '12');
    await one(1, 'No such file', 'single', '-t', 'porep', '--c1', join(daemon.folder, 'absent'));
    await one(1, 'not a JSON object', 'single', '-t', 'porep', '--c1', paramsFile('.vk'));
    await one(1, 'registered_proof', 'single', '-t', 'porep', '--c1', c1Path(NAME), '--registered-proof', '6');
    const list = join(daemon.folder, 'list.json');
    writeFileSync(list, '["AAAA", "AA=="]');
    await one(1, 'INVALID_ARGUMENT', 'single', '-t', 'wpost', '--vanilla', list, '--registered-proof', '5', '--randomness', '0'.repeat(64));
    await one(1, 'INVALID_ARGUMENT', 'batch', '-t', 'snap', '--vanilla', list, '-c', '3', '-j', '2');
    writeFileSync(list, '["AAAA", 1]');
    await one(1, 'base64', 'single', '-t', 'wpost', '--vanilla', list);
    writeFileSync(list, '["A===", "AA=="]');
    await one(1, 'base64', 'single', '-t', 'wpost', '--vanilla', list);
    const nobody = await run('cuzk-bench', ['-a', `unix://${join(daemon.folder, 'nobody.sock')}`, 'status']);
    assert.equal(nobody.status, 1);
    assert.match(nobody.stderr, /UNAVAILABLE/);
    assert.equal((await run('cuzk-bench', ['single', '--help'])).status, 0);
    await alive();
  });
  client.close();
  assert.equal((await daemon.stop()).code, 0);
});

// Parameter files that are not what their name says: nothing is proved with them, and the daemon serves on.
await step('parameter files', async () => {
  const whole = paramsFile('.params');
  const make = {
    'an error page': (path) => writeFileSync(path, '<html><body>404 Not Found</body></html>'),
    empty: (path) => writeFileSync(path, ''),
    'cut short': (path) => {
      const head = Buffer.alloc(1 << 20), from = openSync(whole, 'r');
      writeFileSync(path, head.subarray(0, readSync(from, head)));
      closeSync(from);
    },
    zeros: (path) => writeFileSync(path, Buffer.alloc(1e6)),
    absent: () => {},
  };
  for (const [what, write] of Object.entries(make)) {
    const params = mkdtempSync(join(tmpdir(), 'cuzk-e2e-params-'));
    try {
      write(join(params, basename(whole)));
      await withDaemon({ params }, async (daemon) => {
        const client = new Client(daemon.socket);
        const preload = client.call('PreloadSRS', { circuit_id: 'porep-2k' }, 30e3);
        const message = await refused(preload, what === 'absent' ? 'NOT_FOUND' : 'FAILED_PRECONDITION', 'v28-stacked');
        console.log(`   ${what}: ${message.slice(0, 300)}`);
        const result = await client.prove(submit(NAME, 'porep-1000-9'), 60e3);
        assert.equal(result.status, 'FAILED');
        assert.ok(result.error_message.includes('v28-stacked'), result.error_message);
        assert.equal(result.proof.length, 0);
        assert.equal((await client.status()).total_proofs_failed, 1);
        client.close();
      });
    } finally {
      rmSync(params, { recursive: true, force: true });
    }
  }
});
