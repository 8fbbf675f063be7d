import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { spawn } from '../../../sandbox/service/endWithUs.ts';
import { inherited } from '../../../sandbox/service/process.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { envelope } from '../../../sandbox/stories/wire.ts';
import { appendEvent } from '../../support/events.ts';
import { parseMetrics, type Sample, sampleOf } from '../../support/prom.ts';
import type { TestSandbox } from '../testSandbox.ts';

// What an operator has: log, metrics, admin port and tap of an instance; and ways to make trouble in a sandbox.

export const operatorsToken = 'the-token-of-the-operators';
/** Is not shown by name; when it shows up anywhere, a body was shown that should not be, or not like this. */
export const publicKey = 'Y2FuYXJ5IHNpbmdz';

export type Line = Readonly<Record<string, unknown>>;

/** Where an instance answers, and writes. */
export type Addresses = Readonly<{ adminUrl: string; readyzUrl: string; logFile: string }>;

/** What an operator can learn from one instance. `said` has all that its admin port and its tap have said. */
export function createDesk({ adminUrl, readyzUrl, logFile }: Addresses) {
  const said: string[] = [];

  async function ask(path: string) {
    const response = await fetch(adminUrl + path, { headers: { authorization: `Bearer ${operatorsToken}` } });
    const body = await response.text();
    said.push(body);
    return JSON.parse(body);
  }

  async function metrics(): Promise<readonly Sample[]> {
    const response = await fetch(readyzUrl.replace('/readyz', '/metrics'));
    return parseMetrics(await response.text());
  }

  const health = async (path: string) => (await fetch(readyzUrl.replace('/readyz', path))).status;

  return {
    said,
    ask,
    deviceWork: async (device: string) => (await ask(`/devices?device=${device}`)).devices[0],
    isAlive: async () => (await health('/livez')) === 200,
    isReady: async () => (await health('/readyz')) === 200,
    metrics,
    metric: async (name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> =>
      sampleOf(await metrics(), name, labels) ?? Number.NaN,
    async log(): Promise<Line[]> {
      const lines = (await readFile(logFile, 'utf8')).split('\n');
      return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    },
    /** Runs the tap until it has said this, or to its end. */
    async tap(options: readonly string[], until: string, act: () => Promise<unknown>): Promise<string> {
      const environment = { ADMIN_PORT: new URL(adminUrl).port, ADMIN_TOKEN: operatorsToken };
      const env = { ...inherited(), ...environment };
      const child = spawn(process.execPath, ['dist/tap.js', ...options], { cwd: projectDirectory, env });
      const output = await followed(child, until, act);
      said.push(output);
      return output;
    },
  };
}

/** What a tap has said until this, while something happens; then it is ended. */
export async function followed(
  child: ChildProcessWithoutNullStreams,
  until: string,
  act: () => Promise<unknown>,
): Promise<string> {
  const errors = text(child.stderr);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  try {
    await expect.poll(() => output).toContain('following');
    await act();
    await expect.poll(() => output).toContain(until);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`the tap said: ${output}${await errors}`, { cause: error });
  }
  child.kill('SIGTERM');
  return output;
}

/** Lets devices that are not connected send. */
export function createSenders({ hub }: Pick<TestSandbox, 'hub'>) {
  /** Puts a message into a partition of the hub, by default the first. */
  function append(device: string, properties: Readonly<Record<string, string>>, body: object, partition = 0) {
    appendEvent(hub.partitions[partition], { device, properties, body: Buffer.from(JSON.stringify(body)) });
  }

  return {
    /** So many messages that need the principal manager only. */
    renewKeys(device: string, count: number, ack = 'all', partition = 0) {
      for (let number = 0; number < count; number += 1)
        append(device, envelope('identity.update', `${device} ${number}`, ack), { publicKey }, partition);
    },
    /** So many messages that need the information model. */
    replaceModels(device: string, count: number, ack = 'all', partition = 0) {
      for (let number = 0; number < count; number += 1) {
        const properties = { ...envelope('model.update', `${device} ${number}`, ack), objectId };
        append(device, properties, { type: 'pump', version: number + 1 }, partition);
      }
    },
  };
}

/** Of no object. */
const objectId = 'acef0001-0000-4000-8000-0000000000aa';
