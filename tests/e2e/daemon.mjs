// A running cuzk-daemon and a gRPC client of it, as Curio has them. CZ_E2E_BIN: folder of the programs; CZ_E2E_WORK:
// a folder to write in, with node_modules; CZ_TEST_PARAMS: folder with the v28 files of the 2 KiB circuits;
// CZ_SHARED: the folder with vectors/.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { readFileSync, mkdtempSync, rmSync, writeFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const env = (name) => {
  if (!process.env[name]) throw new Error(`${name} is not set: run by ctest`);
  return process.env[name];
};
const require = createRequire(join(env('CZ_E2E_WORK'), 'package.json'));
export const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

export const BIN = env('CZ_E2E_BIN');
export const PARAMS = env('CZ_TEST_PARAMS');
export const VECTORS = join(env('CZ_SHARED'), 'vectors', 'reference', '2kib');
const PROTO = join(here, '..', '..', 'proto', 'cuzk', 'v1', 'proving.proto');
const HOUR = 3600e3;

const { ProvingEngine } = grpc.loadPackageDefinition(
  loader.loadSync(PROTO, { keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true }),
).cuzk.v1;

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// A name of tests/e2e/daemon.mjs's vectors: porep-v1, porep-v1_1, porep-v1_1-synthetic, porep-v1_2-non-interactive.
export const c1Path = (name) => join(VECTORS, name, 'c1.json.gz');
export const c1 = (name) => gunzipSync(readFileSync(c1Path(name)));
export const envelope = (name, sector = 1, size = 2048) =>
  Buffer.from(JSON.stringify({ SectorNum: sector, Phase1Out: c1(name).toString('base64'), SectorSize: size }));
const REGISTERED = { 'porep-v1': 0, 'porep-v1_1': 5, 'porep-v1_1-synthetic': 10, 'porep-v1_2-non-interactive': 15 };

// What Curio sends for a PoRep.
export const submit = (name, id, changes = {}) => ({
  request_id: id,
  proof_kind: 'POREP_SEAL_COMMIT',
  sector_size: 2048,
  registered_proof: REGISTERED[name],
  vanilla_proof: envelope(name),
  sector_number: 1,
  miner_id: 1000,
  ...changes,
});

export const paramsFile = (extension) => {
  const name = readdirSync(PARAMS).find((f) => f.startsWith('v28-stacked-proof-of-replication-') && f.endsWith(extension));
  if (!name) throw new Error(`no 2 KiB PoRep ${extension} in ${PARAMS}: run the test e2e/cli-setup first, or set CZ_TEST_PARAMS`);
  return join(PARAMS, name);
};

export const run = (program, args) =>
  new Promise((done) => {
    execFile(join(BIN, program), args, { maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      done({ status: error ? error.code : 0, stdout, stderr }));
  });

// True when the command of ours says that the proof is valid for this C1 output.
export const verifies = async (folder, name, proof) => {
  const file = join(folder, 'proof-to-verify.bin');
  writeFileSync(file, proof);
  const args = ['verify', '--json', '--c1', c1Path(name), '--vk', paramsFile('.vk'), '--proof', file];
  const { status, stdout, stderr } = await run('cuzk', args);
  const { valid } = JSON.parse(stdout || `{"valid":"${stderr.trim()}"}`);
  assert.equal(status, valid === true ? 0 : 1, stderr);
  return valid;
};

export class Client {
  constructor(address) {
    this.stub = new ProvingEngine(address, grpc.credentials.createInsecure(), {
      'grpc.max_receive_message_length': 256 << 20,
      'grpc.max_send_message_length': 256 << 20,
      'grpc.enable_http_proxy': 0,
    });
  }
  call(method, request, timeout = HOUR) {
    return new Promise((done, failed) =>
      this.stub[method](request, { deadline: Date.now() + timeout }, (error, reply) =>
        error ? failed(error) : done(reply)));
  }
  async prove(request, timeout) {
    return (await this.call('Prove', { submit: request }, timeout)).result;
  }
  status() {
    return this.call('GetStatus', {}, 5000);
  }
  close() {
    this.stub.close();
  }
}

// The gRPC status is `code` and its text has every one of the words.
export const refused = async (promise, code, ...words) => {
  let error;
  await promise.then(
    (reply) => assert.fail(`answered ${JSON.stringify(reply).slice(0, 200)}, expected ${code}`),
    (e) => (error = e),
  );
  const text = `${grpc.status[error.code]}: ${error.details ?? error.message}`;
  assert.equal(grpc.status[error.code], code, text);
  for (const word of words) assert.ok(text.includes(word), `"${text}" does not name ${word}`);
  return text;
};

// Starts a daemon in a folder of its own. Options: params, budget, config (more TOML), listen (instead of socket and port).
export class Daemon {
  static async start(options = {}) {
    const d = new Daemon();
    d.folder = options.folder ?? mkdtempSync(join(tmpdir(), 'cuzk-e2e-'));
    d.socket = `unix://${join(d.folder, 'cuzk.sock')}`;
    d.config = join(d.folder, 'cuzk.toml');
    writeFileSync(d.config, `[daemon]\nlisten = ${JSON.stringify(options.listen ?? [d.socket, '127.0.0.1:0'])}\n` +
      `[memory]\ntotal_budget = "${options.budget ?? '3GiB'}"\n[srs]\nparam_cache = ${JSON.stringify(options.params ?? PARAMS)}\n${options.config ?? ''}`);
    d.log = '';
    d.process = spawn(join(BIN, 'cuzk-daemon'), ['-c', d.config, ...(options.args?.(d.folder) ?? [])], { stdio: ['ignore', 'pipe', 'pipe'] });
    process.on('exit', () => d.over || d.process.kill('SIGKILL')); // also after an uncaught error
    d.process.stdout.on('data', (text) => (d.log += text));
    d.process.stderr.on('data', (text) => (d.log += text));
    d.exited = new Promise((done) =>
      d.process.on('close', (code, signal) => {
        d.over = true;
        done({ code, signal });
      }));
    if (options.listen) return d;
    const client = new Client(d.socket);
    for (const until = Date.now() + 20e3; ;) {
      if (d.over || Date.now() > until) throw new Error(`the daemon did not start:\n${d.log}`);
      try {
        await client.status();
        break;
      } catch {
        await sleep(50);
      }
    }
    client.close();
    // The port is of the daemon's choice: one that we found free may be taken when it comes to bind it.
    d.tcp = `127.0.0.1:${(await d.logged(/listening on 127\.0\.0\.1:0 \(port (\d+)\)/))[1]}`;
    return d;
  }
  // What comes through the pipe may come a while after what it tells of.
  async logged(pattern, ms = 20e3) {
    for (const until = Date.now() + ms; ;) {
      const found = this.log.match(pattern);
      if (found) return found;
      if (Date.now() > until) throw new Error(`the daemon did not log ${pattern}`);
      await sleep(20);
    }
  }
  // Signals are told apart by how often they came; resolves to {code, signal}.
  stop(signal = 'SIGTERM') {
    if (!this.over) this.process.kill(signal);
    return this.exited;
  }
  clean() {
    if (!this.over) this.process.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// Runs `body(daemon)` and leaves nothing behind; shows the daemon's log when it fails.
export const withDaemon = async (options, body) => {
  const d = await Daemon.start(options);
  try {
    await body(d);
  } catch (error) {
    console.error(`--- the daemon's log\n${d.log}---`);
    throw error;
  } finally {
    d.clean();
  }
};

export const step = async (name, body) => {
  const start = Date.now();
  await body();
  console.log(`ok ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
};
