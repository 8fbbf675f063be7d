// Azure's open emulator of a storage account, in memory, on a free port of loopback.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const listening = /http:\/\/127\.0\.0\.1:\d+/;

export async function startStorage() {
  const program = 'node_modules/azurite/dist/src/blob/main.js';
  const options = ['--blobPort', '0', '--inMemoryPersistence', '--skipApiVersionCheck'];
  const env = { ...process.env, AZURITE_ACCOUNTS: 'findings:a2V5' };
  const storage = spawn(process.execPath, [program, ...options], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  while (!listening.test(said)) said += (await once(storage.stdout, 'data'))[0];
  const account = 'DefaultEndpointsProtocol=http;AccountName=findings;AccountKey=a2V5';
  return {
    connectionString: `${account};BlobEndpoint=${listening.exec(said)[0]}/findings`,
    close: () => storage.kill(),
  };
}
