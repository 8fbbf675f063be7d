import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForAll } from '../../../iot-hub-emulator/test/support/fixtures.ts';
import { sendOrAnswer } from '../../../sandbox/device/command.ts';
import { modelCreate } from '../../../sandbox/stories/model.create.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { begin, run } from './run.ts';

const bytes = '{ "model": "svc.device","type":"pump", "properties": {"serial":"B-1","maximumPressure":10.0} }\n';

const sandbox = sandboxForAll();
const folder = folderForAll('commands');

describe('npm run device', () => {
  const inSandbox = (args: readonly string[]) => ['--directory', sandbox.directory, ...args];
  const never = () => new AbortController().signal;
  const late = ['--wait', '0.2', '--ack', 'positive', 'model.create', '-'];
  const noJson = /not well-formed JSON[\s\S]*No acknowledgement within 0\.2 s/;
  const nearest = /There is no message "model\.query": the nearest name is model\./;
  const device = (args: readonly string[], input?: string) =>
    begin((streams) => sendOrAnswer(inSandbox(args), streams, never), input).ended;
  /** As a person does: in a process of its own. */
  const deviceByHand = (args: readonly string[], input?: string) =>
    run('sandbox/device/main.ts', inSandbox(args), input);

  it('ends with 0 after a successful acknowledgement, and shows the message and the reply', async () => {
    const { code, stdout } = await deviceByHand(['model.create']);
    expect(stdout).toContain('pump-1 sends');
    expect(stdout).toContain('Svc.InformationModel.ObjectModelCreated');
    expect(stdout).toMatch(/"success": true/);
    expect(code).toBe(0);
  });
  it('sends the bytes of the example, or of the file, unchanged', async () => {
    const lastBody = () => {
      const sent = sandbox.hub.journal.list({ kind: 'd2c', deviceId: 'pump-1' }).at(-1);
      return sent && String(sent.body);
    };
    expect(lastBody()).toBe(modelCreate.example.body);
    await writeFile(join(folder, 'pump.json'), bytes);
    expect((await device(['model.create', join(folder, 'pump.json')])).code).toBe(0);
    expect(lastBody()).toBe(bytes);
  });
  it('ends with 1 after a failed acknowledgement', async () => {
    const { code, stdout } = await deviceByHand(['model.create', '-'], '{"objectId":"not a guid"}');
    expect(stdout).toMatch(/"success": false/);
    expect(code).toBe(1);
  });
  it.each<[string, string[], number, 'stdout' | 'stderr', RegExp, string?]>([
    ['no acknowledgement comes in time', late, 2, 'stdout', noJson, 'no json'],
    ['there is no such file', ['model.create', 'nowhere.json'], 3, 'stderr', /nowhere\.json/],
    ['there is no such message', ['model.query'], 3, 'stderr', nearest],
    ['no sandbox runs', ['--directory', folder, 'model.create'], 3, 'stderr', /npm run sandbox/],
  ])('says what is wrong when %s', async (_, args, code, stream, says, input) => {
    const ended = await device(args, input);
    expect(ended[stream]).toMatch(says);
    expect(ended.code).toBe(code);
  });
  it('sends the example of README for any device, however often', async () => {
    for (const id of ['my-pump', 'my-other-pump', 'my-pump']) {
      const { code, stdout } = await device(['--id', id, 'model.create']);
      expect(code, stdout).toBe(0);
    }
  });
  it('registers a new device, once', async () => {
    const args = ['--id', 'newcomer', '--prop', 'target=x', 'model.create', '-'];
    const body = JSON.stringify({ model: 'svc.device', type: 'sensor', properties: { quantity: 'flow' } });
    const first = await device(args, body);
    expect(first.stdout).toContain('newcomer is new: it has been registered');
    expect(first.code, first.stdout).toBe(0);
    const second = await device(args, body);
    expect(second.stdout).not.toContain('registered');
    expect(second.code, second.stdout).toBe(0);
  });
});
