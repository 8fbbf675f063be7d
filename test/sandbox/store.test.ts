import { expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';

const directory = folderForAll('sandbox');

it('With --store file a sandbox has the objects of the one before', async () => {
  const counts: number[] = [];
  for (const body of ['{"model":"svc.device","type":"motor","properties":{"serial":"M-90"}}', undefined]) {
    const { backends, close } = await startSandbox({ directory, service: false, store: 'file' });
    if (body) await fetch(`${backends.adminUrl}/objects`, { method: 'POST', body });
    counts.push(backends.world.objects.count);
    await close();
  }
  expect(counts).toEqual([9, 9]);
});
