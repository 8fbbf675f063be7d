import { once } from 'node:events';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { sandboxForAll } from './testSandbox.ts';

/** The programs of docs/devices.md that log in without an SDK, run as they stand there. */

const sandbox = sandboxForAll();
const folder = folderForAll('raw-mqtt');
let page: string;
beforeAll(async () => {
  page = await readFile('docs/devices.md', 'utf8');
  await symlink(sandbox.directory, join(folder, '.sandbox'));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
});

function block(language: string, text: string): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  );
  const found = blocks.find((code) => code.includes(text));
  if (found === undefined) throw new Error(`docs/devices.md has no ${language} block with ${text}`);
  return found;
}

/** Starts the program of the page for Node as it says, with other text in some places. */
async function startProgram(replaced: Readonly<Record<string, string>> = {}) {
  const change = (text: string) =>
    Object.entries(replaced).reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
  await writeFile(join(folder, 'pump.mjs'), change(block('js', 'mqtts://')));
  const script = `${change(block('sh', 'export KEY='))}exec node pump.mjs`;
  const program = spawn('sh', ['-c', script], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(program, 'exit');
  return {
    lines: createInterface(program.stdout),
    async end() {
      program.kill('SIGKILL');
      await ended;
    },
  };
}

describe('docs/devices.md', () => {
  it('has a program for Node that sends a request and receives the answers', async () => {
    const { lines, end } = await startProgram();
    const received: string[] = [];
    for await (const line of lines) {
      received.push(line);
      if (line.includes('msgType=ack')) break;
    }
    await end();
    expect(received).toEqual([
      expect.stringMatching(/eventType=Svc\.InformationModel\.ObjectModelCreated&id=login&.* \{.*"serial":"TP-7"/),
      expect.stringMatching(/msgType=ack&action=model\.create&version=2&correlationId=login&.* \{"success":true,/),
    ]);
  });
  it('correctly says that the hub closes the connection for a too large message, and again for its repeat', async () => {
    const journal = (kind: 'd2c' | 'disconnected') => sandbox.hub.journal.list({ deviceId: 'pump-2', kind });
    const body = /'\{ "model".*?\}'/.exec(block('js', 'mqtts://'))?.[0] ?? '';
    const { end } = await startProgram({ 'pump-1': 'pump-2', [body]: 'Buffer.alloc(300 * 1024)' });
    await expect.poll(() => journal('disconnected').length, { timeout: 60_000 }).toBeGreaterThan(1);
    await end();
    expect(journal('d2c')).toEqual([]);
  });
});
