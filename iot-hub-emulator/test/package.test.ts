import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import iothub from 'azure-iothub';
import { createAdminClient } from 'iot-hub-emulator/admin';
import { leadToHub, trustHub } from 'iot-hub-emulator/clients';
import { issueCertificate } from 'iot-hub-emulator/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { execFile, spawn } from '../../sandbox/service/endWithUs.ts';
import type { HubState } from '../src/command/stateFile.ts';
import { folderForAll } from './support/fixtures.ts';
import { listening } from './support/listening.ts';

// The package as others get it: packed, installed by npm into an empty project, and used there (H18).

const run = promisify(execFile);
const { exports, version } = JSON.parse(readFileSync('iot-hub-emulator/package.json', 'utf8'));

/** What the project has besides: as it is installed here, with dependencies of its own that the package cannot find. */
const linked = [
  ...['@azure/event-hubs', 'azure-iot-device', 'azure-iot-device-amqp', 'azure-iot-device-mqtt', 'azure-iothub'],
  ...['@types/node', '@types/ws', 'vitest'],
];

const directory = folderForAll('package');
const project = join(directory, 'project');
/** Nothing of npm's that is set here. */
const env = { PATH: process.env['PATH'], HOME: directory, npm_config_update_notifier: 'false' };

beforeAll(async () => {
  await run('npm', ['pack', '--workspace', 'iot-hub-emulator', '--pack-destination', directory]);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }');
  const registry = await serveInstalled('.');
  try {
    const archive = `../iot-hub-emulator-${version}.tgz`;
    const quietly = ['--no-audit', '--no-fund', '--ignore-scripts', '--noproxy=127.0.0.1'];
    await run('npm', ['install', archive, `--registry=${registry.url}`, ...quietly], { cwd: project, env });
  } finally {
    registry.close();
  }
  for (const name of linked) {
    const place = join(project, 'node_modules', name);
    if (existsSync(place)) continue;
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(resolve('node_modules', name), place);
  }
});

const installed = (...path: string[]) => join(project, 'node_modules/iot-hub-emulator', ...path);

test('the package has what it is used with, and pages that lead only to each other', () => {
  expect(readdirSync(installed()).toSorted()).toEqual([
    ...[
      'CHANGELOG.md',
      'DECISIONS.md',
      'LICENSE',
      'README.md',
      'bin',
      'development',
      'dist',
      'docs',
      'package.json',
      'recipes',
    ],
  ]);
  const docs = readdirSync(installed('docs')).map((name) => `docs/${name}`);
  const pages = ['README.md', 'CHANGELOG.md', 'DECISIONS.md', ...docs];
  const broken = pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => {
      const links = [...readFileSync(installed(page), 'utf8').matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)];
      return links.flatMap(([, link = '']) => (existsSync(installed(dirname(page), link)) ? [] : [`${page}: ${link}`]));
    });
  expect(broken).toEqual([]);
});

test('the package has types, and each official client works with it, without an environment variable', async () => {
  copyFileSync(new URL('./support/installedProgram.ts', import.meta.url), join(project, 'program.ts'));
  const names = Object.keys(exports)
    .filter((path) => 'default' in exports[path]) // the facts are for this project
    .map((path) => path.replace('.', 'iot-hub-emulator'));
  writeFileSync(join(project, 'all.ts'), names.map((name, i) => `export * as all${i} from '${name}';\n`).join(''));
  const compilerOptions = {
    ...{ target: 'ES2022', module: 'NodeNext', lib: ['ES2023', 'ESNext.Disposable'], types: ['node'] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, outDir: 'built' },
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts', 'all.ts'] }));
  const compiler = resolve('node_modules/typescript/bin/tsc');
  const { stdout: said } = await run(process.execPath, [compiler, '--pretty', 'false'], { cwd: project, env }).catch(
    ({ stdout }: { stdout: string }) => ({ stdout }),
  );
  // The types of the official clients, which are linked from outside, have errors of their own.
  expect(said.split('\n').filter((line) => !/^(\.\.\/| |$)/.test(line))).toEqual([]);

  const { stdout } = await run(process.execPath, ['--import=./built/all.js', 'built/program.js'], {
    cwd: project,
    env,
  });
  expect(JSON.parse(stdout)).toEqual([
    ...['device Mqtt', 'device MqttWs', 'device Amqp', 'device AmqpWs'],
    ...['registry pump-1', 'service Amqp', 'method 200'],
    ...['events TCP: 4 partitions', 'events TLS: 4 partitions', 'events WebSockets: 4 partitions'],
    'journal Mqtt, MqttWs, Amqp, AmqpWs, to it',
    'cleaned up',
  ]);
});

test('npx runs a hub, which prints its connection strings and the file of its authority, and keeps its keys out of git', async () => {
  const hub = spawn('npx', ['--no-install', 'iot-hub-emulator', '--device', 'pump-1'], {
    cwd: project,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(hub, 'exit');
  const printed: string[] = [];
  for await (const line of createInterface({ input: hub.stdout })) {
    printed.push(line);
    if (line.startsWith('End ')) break;
  }
  const said = (name: string) => printed.find((line) => line.startsWith(name))?.slice(10);
  expect(said('Events')).toMatch(/^Endpoint=sb:\/\/127\.0\.0\.1:\d+;SharedAccessKeyName=events;/);
  expect(said('Service')).toMatch(/^HostName=localhost:\d+;SharedAccessKeyName=service;/);
  expect(said('  pump-1')).toContain('DeviceId=pump-1;');
  const [, caFile = ''] = /^NODE_EXTRA_CA_CERTS=(.*)$/.exec(said('Trust') ?? '') ?? [];
  expect(readFileSync(caFile, 'utf8')).toContain('BEGIN CERTIFICATE');
  expect(readFileSync(join(project, '.iot-hub-emulator/.gitignore'), 'utf8')).toBe('*\n');
  const { stdout } = await run('node_modules/.bin/iot-hub-emulator', ['devices', '--json'], { cwd: project, env });
  expect(JSON.parse(stdout).devices).toMatchObject([{ deviceId: 'pump-1', connected: false }]);
  process.kill(-Number(hub.pid), 'SIGINT');
  await ended;
  expect(existsSync(join(project, '.iot-hub-emulator/hub.json'))).toBe(false);
});

describe('a recipe', () => {
  const recipes = () => readFileSync(installed('docs/recipes.md'), 'utf8');
  const printed = (page: string, mark: string) =>
    new RegExp(`<!-- ${mark} -->\\n\`\`\`\\w+\\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '';
  /** Debian's programs before others of the same name. */
  const withDebian = { ...env, PATH: `/usr/bin:${env.PATH}` };
  const python = (module: string) => `/usr/lib/python3/dist-packages/${module}`;
  /** CI has what .ci/debian.txt names: not Go, which is large, and Proton, which not every Debian has. */
  const isMissing = (file: string) => !existsSync(file) && !process.env['CI'];

  test('for a shell runs a hub that ends with it', async () => {
    const { stdout } = await run('sh', ['-c', printed(recipes(), 'with-hub.sh')], { cwd: project, env });
    expect(stdout).toMatch(/^deviceId .*\npump-1 /m);
    expect(existsSync(join(project, 'hub/hub.json'))).toBe(false);
  });
  test('for Vitest passes', async () => {
    const page = readFileSync(installed('README.md'), 'utf8');
    writeFileSync(join(project, 'pump.test.ts'), printed(page, 'recipe: test/recipe.test.ts'));
    const { stdout } = await run('node', ['node_modules/vitest/vitest.mjs', 'run', 'pump.test.ts'], {
      cwd: project,
      env,
    });
    expect(stdout).toContain('1 passed');
  });
  test.skipIf(isMissing(python('_pytest')))('for pytest passes', async () => {
    writeFileSync(join(project, 'test_pump.py'), printed(recipes(), 'test_pump.py'));
    const { stdout } = await run('python3', ['-m', 'pytest', 'test_pump.py'], { cwd: project, env: withDebian });
    expect(stdout).toContain('1 passed');
  });

  let hub: HubState;
  let service: iothub.Client;
  let admin: ReturnType<typeof createAdminClient>;
  beforeAll(async () => {
    const options = ['--json', '--end-with-stdin', '--directory', 'recipes'];
    const child = spawn('npx', ['--no-install', 'iot-hub-emulator', ...options], {
      ...{ cwd: project, env, stdio: ['pipe', 'pipe', 'inherit'] },
    });
    let text = '';
    for await (const line of createInterface({ input: child.stdout })) {
      text += line;
      if (line === '}') break;
    }
    hub = JSON.parse(text);
    admin = createAdminClient(hub.adminUrl);
    const distrust = trustHub(hub);
    service = await leadToHub(hub, iothub.Client.fromConnectionString(hub.serviceConnectionString));
    return async () => {
      distrust();
      child.stdin.end();
      await once(child, 'exit');
    };
  });

  /** Starts a recipe with the command that stands in it; the answer is what it prints. */
  function started(file: string, variables: Readonly<Record<string, string>>): () => string {
    const [, command = ''] = /^(?:#|\/\/) Run: (.*)$/m.exec(readFileSync(installed('recipes', file), 'utf8')) ?? [];
    const child = spawn('sh', ['-c', command], {
      ...{ cwd: installed('recipes'), detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
      env: { ...withDebian, SSL_CERT_FILE: hub.caFile, NODE_EXTRA_CA_CERTS: hub.caFile, ...variables },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => {
        said += text;
      });
    onTestFinished(() => {
      if (child.exitCode === null) process.kill(-Number(child.pid), 'SIGKILL');
    });
    return () => said;
  }

  /** By its certificate, too. */
  async function newDevice(deviceId: string) {
    const pump = await issueCertificate({ name: deviceId, role: 'client' });
    const [DEVICE_CERTIFICATE, DEVICE_KEY] = [join(project, `${deviceId}.pem`), join(project, `${deviceId}.key`)];
    writeFileSync(DEVICE_CERTIFICATE, pump.cert);
    writeFileSync(DEVICE_KEY, pump.key);
    const primaryThumbprint = new X509Certificate(pump.cert).fingerprint256.replaceAll(':', '');
    const authentication = { type: 'selfSigned' as const, primaryThumbprint };
    const { connectionString } = await admin.addDevice({
      deviceId,
      ...(deviceId === 'device.c' && { authentication }),
    });
    return { DEVICE_CONNECTION_STRING: connectionString, DEVICE_CERTIFICATE, DEVICE_KEY };
  }

  const paho = '/usr/share/gocode/src/github.com/eclipse/paho.mqtt.golang';
  const devices: [file: string, isSkipped: boolean, variables?: Readonly<Record<string, string>>][] = [
    ['device.mjs', false],
    ['device.py', isMissing(python('paho'))],
    ['device.c', isMissing('/usr/include/MQTTClient.h')],
    ['device.sh', isMissing('/usr/bin/mosquitto_pub')],
    ['device.go', !existsSync(paho), { GO111MODULE: 'off', GOPATH: '/usr/share/gocode' }],
  ];
  for (const [file, isSkipped, variables] of devices)
    test.skipIf(isSkipped)(`${file} sends, receives, answers a method and reports its twin`, async () => {
      const said = started(file, { ...(await newDevice(file)), ...variables });
      await admin.sendMessage(file, { body: 'hello' });
      await expect.poll(said).toContain('hello');
      const sent = async () => (await admin.readJournal({ kind: 'd2c', deviceId: file })).entries;
      await expect.poll(sent).toMatchObject([{ text: '21.5', properties: { hall: '8' } }]);
      await expect.poll(() => admin.showTwin(file)).toMatchObject({ reported: { version: 1 } });
      if (file === 'device.sh') return;
      const { result } = await service.invokeDeviceMethod(file, { methodName: 'stop', connectTimeoutInSeconds: 60 });
      expect(result).toEqual({ status: 200, payload: { done: true } });
    });
  test.skipIf(!existsSync(python('proton')))('reader.py reads what devices send', async () => {
    started('device.mjs', await newDevice('read'));
    const said = started('reader.py', { EVENTS_CONNECTION_STRING: hub.eventsConnectionString });
    await expect.poll(said).toContain("read 21.5 {'hall': '8'}");
  });
  test('is in the table of all', () => {
    const named = [...recipes().matchAll(/\]\(\.\.\/recipes\/([^)]+)\)/g)].map(([, name]) => name);
    expect(named.toSorted()).toEqual(
      readdirSync(installed('recipes'))
        .filter((name) => name !== 'device')
        .toSorted(),
    );
  });
});

type Installed = { folder: string; manifest: { name: string; version: string } };

/** The packages that are installed in a project, as its lock file knows them. */
function installedIn(project: string): Installed[] {
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
  return Object.entries<{ link?: boolean }>(packages).flatMap(([path, { link }]) => {
    const folder = join(project, path);
    const file = join(folder, 'package.json');
    if (!path.includes('node_modules/') || link || !existsSync(file)) return [];
    return [{ folder, manifest: JSON.parse(readFileSync(file, 'utf8')) }];
  });
}

/** A registry of the packages that are installed here: npm installs from it without any network. */
async function serveInstalled(project: string): Promise<{ url: string; close(): void }> {
  const installed = installedIn(project);
  let url = '';
  const document = (name: string) => {
    const versions = installed.filter(({ manifest }) => manifest.name === name);
    return {
      name,
      'dist-tags': { latest: versions[0]?.manifest.version },
      versions: Object.fromEntries(
        versions.map(({ manifest }) => {
          const { version } = manifest;
          return [version, { ...manifest, dist: { tarball: `${url}/-/${encodeURIComponent(`${name}@${version}`)}` } }];
        }),
      ),
    };
  };
  const server = createServer(async ({ url: asked = '' }, response) => {
    const [, isArchive, wanted = ''] = /^\/(-\/)?(.*)$/.exec(decodeURIComponent(asked)) ?? [];
    const found = installed.find(
      ({ manifest: { name, version } }) => wanted === (isArchive ? `${name}@${version}` : name),
    );
    if (!found) response.writeHead(404).end();
    else if (isArchive) response.end(await archiveOf(found.folder));
    else response.end(JSON.stringify(document(wanted)));
  });
  const { port, close } = await listening(server);
  url = `http://127.0.0.1:${port}`;
  return { url, close };
}

/** What npm would have fetched, but for packages that are inside of it. */
async function archiveOf(folder: string): Promise<Buffer> {
  const renamed = '--transform=s,^\\.,package,';
  const args = ['--create', '--gzip', `--directory=${folder}`, '--exclude=./node_modules', renamed, '.'];
  const { stdout } = await promisify(execFile)('tar', args, { encoding: 'buffer', maxBuffer: 2 ** 28 });
  return stdout;
}
