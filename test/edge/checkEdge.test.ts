import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server, Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { findingsIn } from '@device-messaging/telemetry/check.ts';
import { useProxies } from '@device-messaging/telemetry/outbound.ts';
import { ensureCertificates, issueCertificate } from 'iot-hub-emulator/testing';
import mqtt from 'mqtt';
import { generate } from 'mqtt-packet';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { checkEdge, probes } from '../../edge/src/check.ts';
import type { Configuration } from '../../edge/src/configuration/read.ts';
import { readOptions } from '../../edge/src/options.ts';
import { portForTest, startForAll, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { findings } from '../e2e/check/run.ts';
import { startConnectProxy } from '../support/connectProxy.ts';
import { startTestEdge, writeCertificate } from './support/testEdge.ts';

// What `--check` of the edge proxy finds, in this process, beside a proxy that runs in it, too.

type File = Readonly<Record<'hub' | 'broker', Readonly<Record<string, unknown>>>> & {
  readonly modules: readonly Readonly<Record<string, unknown>>[];
};

const edge = startForAll(startTestEdge);
let file: File;
beforeAll(async () => {
  file = JSON.parse(await readFile(join(edge.folder, 'edge-proxy.json'), 'utf8'));
});

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

const untilWhen = (where: string) =>
  new RegExp(`^${where} answers, its certificate is valid until \\d{4}-\\d\\d-\\d\\d; the key shows only when`);

it('finds nothing wrong, and takes neither connection of the running proxy', async () => {
  const since = edge.hub.journal.last;
  const { code, found, text } = await findings(right(), {}, inHere);
  const { broker, folder, hub } = edge;
  expect([code, found]).toEqual([
    0,
    [
      { what: 'configuration', mark: 'ok', found: `${join(folder, 'edge-proxy.json')} is valid, with 3 modules` },
      { what: 'hub', mark: 'ok', found: expect.stringMatching(untilWhen(`localhost:${hub.ports.mqtts}`)) },
      { what: 'broker', mark: 'ok', found: `${broker.url} takes the user edge-proxy` },
      { what: 'folders', mark: 'ok', found: 'all can be written, with room for their quotas' },
    ],
  ]);
  expect(JSON.parse(text)).toMatchObject({ seconds: expect.any(Number) });
  expect(text).not.toMatch(/edge-proxy-secret|SharedAccessKey=[^…]/);
  expect([hub.journal.list({ since }), edge.lines.filter(({ level }) => level === 'warn')]).toEqual([[], []]);
  await edge.ready();
});

const withFolder =
  (folder: string) =>
  ({ modules: [press, ...others] }: File) => ({ modules: [{ ...press, files: { folder } }, ...others] });
const withHub =
  (part: RegExp, by: string, change: object = {}) =>
  ({ hub }: File) => ({ hub: { ...hub, ...change, connectionString: `${hub['connectionString']}`.replace(part, by) } });
const withBroker =
  (change: object) =>
  ({ broker }: File) => ({ broker: { ...broker, ...change } });
const ofUser = /compare broker\.username and broker\.password/;

/** What is changed, what the finding is about and says, and the exit code with `--init`. */
it.each<[string, (right: File) => object, string, RegExp, number]>([
  ['no module', () => ({ modules: [] }), 'configuration', /at least one module → correct \/.*wrong-\d+\.json$/, 1],
  ['no hub', withHub(/HostName=[^;]*/, 'HostName=localhost:1'), 'hub', /ECONNREFUSED → compare HostName/, 0],
  ['no authority', withHub(/$/, '', { caFile: undefined }), 'hub', /hub\.caFile or network\.caFile must name/, 1],
  ['no broker', withBroker({ url: 'mqtt://127.0.0.1:1' }), 'broker', /ECONNREFUSED.* → compare broker\.url/, 0],
  ['a wrong password', withBroker({ password: 'not-this-one' }), 'broker', ofUser, 1],
  ['no folder', withFolder('/dev/null'), 'folders', /module press: EEXIST: .*'\/dev\/null' → mount a folder/, 1],
  ['a secret', withFolder('/dev/null/edge-proxy-secret'), 'folders', /module press: ENOTDIR.* → mount a folder/, 1],
])('%s is found', async (_, change, what, says, init) => {
  const args = await withChange(change);
  const { code, found, text } = await findings(args, {}, inHere);
  const bad = found.filter(({ mark }) => mark !== 'ok');
  expect(bad.map((one) => one.what)).toEqual([what]);
  expect(`${bad[0]?.found} → ${bad[0]?.todo}`).toMatch(says);
  expect(code).toBe(1);
  expect(text).not.toMatch(/not-this-one|edge-proxy-secret/);
  expect((await findings([...args, '--init'], {}, inHere)).code).toBe(init);
});

it('tells until when the certificate of the proxy is valid', async () => {
  const [from, until] = [Date.UTC(2020, 0), Date.UTC(2021, 0)];
  await writeCertificate(edge.folder, await issueCertificate({ name: 'edge-1', role: 'client', from, until }));
  const certificate = { certificateFile: 'device.pem', keyFile: 'device.key' };
  const args = await withChange(withHub(/SharedAccessKey=.*/, 'x509=true', certificate));
  const { found } = await findings(args, {}, inHere);
  const told = 'the certificate of the proxy is valid from 2020-01-01 until 2021-01-01';
  expect(found).toContainEqual(expect.objectContaining({ what: 'hub', mark: 'ok', found: told }));
});

/** What the probe of this name finds when this part of the configuration is otherwise. */
async function probed(name: string, change: Partial<Configuration>) {
  const said = await probes.find((probe) => probe.name === name)?.attempt({ ...edge.configuration, ...change });
  return findingsIn(name, said ?? []);
}
const checkHub = (hub: Configuration['hub']) => probed('hub', { hub });
const checkBroker = (broker: Configuration['broker']) => probed('broker', { broker });
const checkFolders = (modules: Configuration['modules']) => probed('folders', { modules });

const addressOf = async (server: Server) => `127.0.0.1:${await portForTest(server)}`;

describe('the folders', () => {
  const withQuotas = (...quotas: readonly number[]) => {
    const [press] = edge.configuration.modules;
    if (press?.files === undefined) throw new Error('press has files');
    const { files, ...rest } = press;
    return quotas.map((quotaBytes) => ({ ...rest, files: { ...files, quotaBytes } }));
  };

  it('a disk without room for the quotas is told', async () => {
    const [found, ...others] = await checkFolders(withQuotas(2 ** 52, 2 ** 52 - 1));
    expect([others, found?.mark, found?.todo]).toEqual([[], 'warning', 'make room, or lower quotaBytes']);
    const [, folder, free] =
      /^the disk of (.+) has (\d+) MB free, the quotas on it are 8589934592 MB$/.exec(found?.found ?? '') ?? [];
    expect(folder).toBe(edge.files);
    expect(Number(free)).toBeLessThan(8_589_934_592);
  });

  it('of modules without files are none', async () => {
    const found = await checkFolders(edge.configuration.modules.slice(1));
    expect(found).toEqual([{ what: 'folders', mark: 'ok', found: 'no module has files' }]);
  });
});

describe('the hub', () => {
  const ofHub = (host: string) => `HostName=${host};DeviceId=d;SharedAccessKey=a2V5`;

  it.each([
    [false, 8883],
    [true, 443],
  ])('over WebSockets: %s, it is sought at port %i', async (webSockets, port) => {
    const [found] = await checkHub({ connectionString: ofHub('127.0.0.1'), webSockets });
    expect(found?.found).toMatch(new RegExp(`^127\\.0\\.0\\.1:${port}: `));
  });

  it('that is silent is an outage', async () => {
    const { setTimeout } = Socket.prototype;
    vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function (this: Socket, ms, ...rest) {
      return setTimeout.call(this, ms === 10_000 ? 10 : ms, ...rest);
    });
    const host = await addressOf(createServer());
    const outage = { what: 'hub', mark: 'failure', found: `${host}: no answer within 10 s`, isOutage: true };
    expect(await checkHub({ connectionString: ofHub(host), webSockets: false })).toMatchObject([outage]);
  });

  it('is asked for by its name, which an address is not', async () => {
    const names: string[] = [];
    const { key, cert, caFile } = await ensureCertificates(join(edge.folder, 'several'));
    const server = createTlsServer({
      ...{ key, cert },
      SNICallback(name, done) {
        names.push(name);
        done(null);
      },
    });
    const ca = await readFile(caFile, 'utf8');
    const host = await addressOf(server);
    for (const name of [host.replace('127.0.0.1', 'localhost'), host])
      expect(await checkHub({ connectionString: ofHub(name), webSockets: false, ca })).toMatchObject([{ mark: 'ok' }]);
    expect(names).toEqual(['localhost']);
  });

  it('is reached through the proxy, or the proxy is what is wrong', async () => {
    const proxy = await startForTest(startConnectProxy());
    useProxies({ https: proxy.url, http: '', except: '' });
    onTestFinished(() => useProxies({ https: '', http: '', except: '' }));
    const place = `localhost:${edge.hub.ports.mqtts}`;
    const where = `${place} through ${proxy.url.replace('http://', '')} \\(HTTPS_PROXY\\)`;
    const [found] = await checkHub(edge.configuration.hub);
    expect(found).toEqual({ what: 'hub', mark: 'ok', found: expect.stringMatching(untilWhen(where)) });
    proxy.behave('refuses');
    const [refused] = await checkHub(edge.configuration.hub);
    expect(refused).toMatchObject({ mark: 'failure', found: expect.stringContaining('HTTP 403') });
    expect(proxy.asked).toEqual([place, place]);
  });
});

describe('the broker', () => {
  const answering = (returnCode: number) =>
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(generate({ cmd: 'connack', returnCode, sessionPresent: false })));
    });

  it('that hangs up is an outage', async () => {
    const url = `mqtt://${await addressOf(createServer((socket) => socket.destroy()))}`;
    const found = expect.stringMatching(/: (the broker has closed the connection|.*ECONNRESET)$/);
    const outage = { what: 'broker', mark: 'failure', isOutage: true, found };
    expect(await checkBroker({ url })).toEqual([{ ...outage, todo: 'compare broker.url, or start the broker' }]);
  });

  it.each([1, 2, 3, 4, 5])('that refuses with the code %i refuses the user or the client', async (returnCode) => {
    const isRefusal = [2, 4, 5].includes(returnCode);
    const server = answering(returnCode);
    const [found] = await checkBroker({ url: `mqtt://${await addressOf(server)}` });
    const todo = expect.stringContaining(isRefusal ? 'broker.username and broker.password' : 'broker.url');
    expect([found?.isOutage === true, found?.todo]).toEqual([!isRefusal, todo]);
  });

  it('that takes any user is told, and one whose authority is not known is refused', async () => {
    const url = `mqtt://${await addressOf(answering(0))}`;
    const found = await checkBroker({ url });
    expect(found).toEqual([{ what: 'broker', mark: 'ok', found: `${url} takes the user (none)` }]);
    const { key, cert } = await ensureCertificates(join(edge.folder, 'unknown'));
    const secure = `mqtts://${await addressOf(createTlsServer({ key, cert }))}`;
    const refused = { what: 'broker', mark: 'failure', found: expect.stringContaining(`${secure}: `) };
    const todo = 'broker.caFile must name the authority of its certificate';
    expect(await checkBroker({ url: secure })).toEqual([{ ...refused, todo }]);
  });

  it('keeps the connection of the client id that the proxy uses', async () => {
    const { url } = edge.broker;
    const running = mqtt.connect(url, { ...ofPress, reconnectPeriod: 0 });
    onTestFinished(() => running.endAsync(true));
    await new Promise((resolve) => running.once('connect', resolve));
    const broker = { url, username: 'edge-proxy', password: 'edge-proxy-secret', clientId: ofPress.clientId };
    expect(await checkBroker(broker)).toMatchObject([{ mark: 'ok' }]);
    await running.publishAsync('press/out/0/none', '', { qos: 1 });
  });
});

const ofPress = { username: 'press', password: 'press-secret', clientId: 'the-proxy' };
