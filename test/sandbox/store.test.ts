import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';

it('With --store file a sandbox has the objects of the one before', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const counts: number[] = [];
  try {
    for (const body of ['{"model":"svc.device","type":"motor","properties":{"serial":"M-90"}}', undefined]) {
      const { backends, close } = await startSandbox({ directory, service: false, store: 'file' });
      if (body) await fetch(`${backends.adminUrl}/objects`, { method: 'POST', body });
      counts.push(backends.world.objects.count);
      await close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  expect(counts).toEqual([9, 9]);
});
