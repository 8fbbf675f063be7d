import { readFileSync } from 'node:fs';
import type { Settings } from '../settings/config.ts';

/** What the platform should have given the process for its identity, and has not: one sentence for each fault (D365). */
export function missingOfPlatform(
  { kind, clientId }: Settings['identity'],
  env: NodeJS.ProcessEnv,
  isReadable = canRead,
): string[] {
  if (kind !== 'workload') return [];
  const needed = ['AZURE_TENANT_ID', 'AZURE_FEDERATED_TOKEN_FILE', ...(clientId === '' ? ['AZURE_CLIENT_ID'] : [])];
  const missing = needed.filter((name) => !env[name]);
  const file = env['AZURE_FEDERATED_TOKEN_FILE'] ?? '';
  return [
    ...missing.map(
      (name) => `identity.kind: IDENTITY=workload needs ${name}, which the platform sets for a service account`,
    ),
    ...(file !== '' && !isReadable(file) ? [`AZURE_FEDERATED_TOKEN_FILE: ${file} cannot be read, or is empty`] : []),
  ];
}

function canRead(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').trim() !== '';
  } catch {
    return false;
  }
}
