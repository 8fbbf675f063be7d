import { parseArgs } from 'node:util';
import { splitPair, UsageError } from '../terminal/usage.ts';
import { startAdapter } from './adapter.ts';
import { openDatabase } from './database.ts';
import { connect } from './sqlIdentities.ts';

const usage = `Usage: node scripts/run.js sandbox/adapter/main.ts [options]

Serves the three backends over PostgreSQL, which runs inside this process, on
this machine. Prints their addresses as JSON.

  --directory D           where the database is; default .sandbox/postgres
  --identity TENANT=PATH  an identity that is created unless it is there, with
                          those above it: acme=gateway-1/edge. May be repeated
  --token T               what the service has to send
`;

const options = {
  directory: { type: 'string', default: '.sandbox/postgres' },
  identity: { type: 'string', multiple: true },
  token: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const { directory, identity, token } = values;
  if (!token) throw new UsageError('--token is missing');
  const database = await openDatabase(directory);
  for (const pair of identity ?? []) {
    const [tenant, path] = splitPair('--identity', 'TENANT=PATH', pair);
    await database.transaction((sql) => connect(sql, tenant, path));
  }
  const adapter = await startAdapter({ database, read: (given) => (given === token ? 'service' : undefined) });
  process.stdout.write(`${JSON.stringify(adapter.urls)}\n`);
  const end = () => void adapter.close();
  process.once('SIGINT', end).once('SIGTERM', end);
}
