import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { issueCertificate } from 'iot-hub-emulator/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkBroker } from '../../edge/src/check/checkBroker.ts';
import { checkEdge } from '../../edge/src/check/checkEdge.ts';
import { checkFolders } from '../../edge/src/check/checkFolders.ts';
import { readOptions } from '../../edge/src/options.ts';
import { check, findings } from '../e2e/check/run.ts';
import { edgeProgram } from './support/process.ts';
import { startTestEdge, type TestEdge, writeCertificate } from './support/testEdge.ts';

// `--check` of the edge proxy beside one that runs.

type File = Readonly<Record<'hub' | 'broker', Readonly<Record<string, unknown>>>> & {
  readonly modules: readonly Readonly<Record<string, unknown>>[];
};

let edge: TestEdge;
let file: File;
beforeAll(async () => {
  edge = await startTestEdge({ process: {} });
  await edge.ready();
  file = JSON.parse(await readFile(join(edge.folder, 'edge-proxy.json'), 'utf8'));
});
afterAll(() => edge.close());

const inProgram = (args: readonly string[]) => check(args, {}, edgeProgram);

/** What the program does with these arguments, in this process. */
async function inHere(args: readonly string[]) {
  const options = readOptions(args, {});
  if (options.check === undefined) throw new Error('--check is missing');
  let text = '';
  const code = await checkEdge(options.config, options.check, (more) => {
    text += more;
  });
  return { code, text };
}

const right = () => ['--config', join(edge.folder, 'edge-proxy.json'), '--check'];

let written = 0;
async function withChange(change: (right: File) => object): Promise<string[]> {
  written += 1;
  const path = join(edge.folder, `wrong-${written}.json`);
  await writeFile(path, JSON.stringify({ ...file, ...change(file) }));
  return ['--config', path, '--check'];
}

it('finds nothing wrong, and takes neither connection of the running proxy', async () => {
  const since = edge.hub.journal.last;
  const { code, found } = await findings(right(), {}, inProgram);
  expect([code, found.map(({ what, mark }) => `${what} ${mark}`)]).toEqual([
    0,
    ['configuration ok', 'hub ok', 'broker ok', 'folders ok'],
  ]);
  expect(edge.hub.journal.list({ since })).toEqual([]);
  const press = await edge.module('press', (request) => request.reply(200));
  expect((await edge.call()).status).toBe(200);
  await press.close();
  expect(edge.lines.filter(({ level }) => level === 'warn')).toEqual([]);
});

it('prints lines, without secrets', async () => {
  const { text } = await inProgram(right());
  expect(text).toMatch(/^(✓ \w+: .*\n){4}4 ✓ {2}0 ! {2}0 ✗ {2}in \d+\.\d s\n$/);
  expect(text).not.toMatch(/edge-proxy-secret|SharedAccessKey=[^…]/);
});

interface Row {
  readonly change: (right: File) => object;
  readonly what: string;
  readonly says: RegExp;
  /** The exit code with `--init`. */
  readonly init: number;
}

const rows: Readonly<Record<string, Row>> = {
  'a configuration that is none': {
    change: () => ({ modules: [] }),
    what: 'configuration',
    says: /must have at least one module/,
    init: 1,
  },
  'a hub that is not there': {
    change: ({ hub }) => ({
      hub: {
        ...hub,
        connectionString: String(hub['connectionString']).replace(/HostName=[^;]*/, 'HostName=localhost:1'),
      },
    }),
    what: 'hub',
    says: /ECONNREFUSED → compare HostName/,
    init: 0,
  },
  'a hub whose authority is not known': {
    change: ({ hub }) => ({ hub: { connectionString: hub['connectionString'] } }),
    what: 'hub',
    says: /hub\.caFile or network\.caFile must name/,
    init: 1,
  },
  'a broker that is not there': {
    change: ({ broker }) => ({ broker: { ...broker, url: 'mqtt://127.0.0.1:1' } }),
    what: 'broker',
    says: /ECONNREFUSED.* → compare broker\.url/,
    init: 0,
  },
  'a wrong password': {
    change: ({ broker }) => ({ broker: { ...broker, password: 'not-this-one' } }),
    what: 'broker',
    says: /compare broker\.username and broker\.password/,
    init: 1,
  },
  'a folder that cannot be made': {
    change: ({ modules: [press, ...others] }) => ({
      modules: [{ ...press, files: { folder: '/proc/none' } }, ...others],
    }),
    what: 'folders',
    says: /\/proc\/none of module press: E\w+ → mount a folder/,
    init: 1,
  },
};

describe.each(Object.entries(rows))('%s', (_, { change, what, says, init }) => {
  it('is found', async () => {
    const args = await withChange(change);
    const { code, found, text } = await findings(args, {}, inHere);
    const bad = found.filter(({ mark }) => mark !== 'ok');
    expect(bad.map((one) => one.what)).toEqual([what]);
    expect(`${bad[0]?.found} → ${bad[0]?.todo}`).toMatch(says);
    expect(code).toBe(1);
    expect(text).not.toMatch(/not-this-one|edge-proxy-secret/);
    expect((await findings([...args, '--init'], {}, inHere)).code).toBe(init);
  });
});

it('tells until when the certificate of the proxy is valid', async () => {
  const [from, until] = [Date.UTC(2020, 0), Date.UTC(2021, 0)];
  await writeCertificate(edge.folder, await issueCertificate({ name: 'edge-1', role: 'client', from, until }));
  const args = await withChange(({ hub }) => ({
    hub: {
      ...{ ...hub, certificateFile: 'device.pem', keyFile: 'device.key' },
      connectionString: String(hub['connectionString']).replace(/SharedAccessKey=.*/, 'x509=true'),
    },
  }));
  const { found } = await findings(args, {}, inHere);
  expect(found.map(({ what, mark, found }) => `${what} ${mark} ${found}`)).toContain(
    'hub ok the certificate of the proxy is valid from 2020-01-01 until 2021-01-01',
  );
});

it('a disk without room for the quotas is told', () => {
  const [press] = edge.configuration.modules;
  if (press?.files === undefined) throw new Error('press has files');
  const greedy = { ...press, files: { ...press.files, quotaBytes: Number.MAX_SAFE_INTEGER } };
  expect(checkFolders([greedy])).toEqual([
    expect.objectContaining({ mark: 'warning', todo: expect.stringContaining('quotaBytes') }),
  ]);
});

it('a broker that hangs up is told', async () => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const [found] = await checkBroker({ broker: { url: `mqtt://127.0.0.1:${port}` } });
  expect(found).toMatchObject({ mark: 'failure', isOutage: true });
  await new Promise((resolve) => server.close(resolve));
});

it('options of a check need the check', async () => {
  const { code, text } = await inProgram(['--json']);
  expect([code, text]).toEqual([2, expect.stringContaining('--json and --init need --check')]);
});
