import { expect, it } from 'vitest';
import { startBackends } from '../../sandbox/backends/backends.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

interface Listed {
  readonly typeId: string;
  readonly model: string;
  readonly tenant: string | null;
  readonly properties?: Readonly<Record<string, { isMandatory?: boolean }>>;
}

it('docs/sandbox.md has the types that all tenants of the sandbox know, with their properties', async () => {
  const backends = await startBackends({ seed: true });
  const { data } = (await (await fetch(`${backends.adminUrl}/world/types`)).json()) as { data: readonly Listed[] };
  await backends.close();
  const known = data.filter(({ model, tenant }) => model === 'svc.device' && tenant === null);
  const rows = tableOf(readPage('sandbox.md'), 'type');
  const cellsOf = (typeId: string) =>
    rows.filter(({ type = '' }) => type.includes(`\`${typeId}@`)).map((row) => row['properties (**mandatory**)'] ?? '');
  expect(known.length).toBeGreaterThan(5);
  for (const { typeId, properties = {} } of known)
    for (const [name, { isMandatory }] of Object.entries(properties)) {
      const text = cellsOf(typeId).join(' ');
      expect(codesIn(text), typeId).toContain(name);
      expect(text.includes(`**\`${name}\`**`), `${typeId} ${name}`).toBe(isMandatory === true);
    }
});
