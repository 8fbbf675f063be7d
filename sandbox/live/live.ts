import { randomBytes, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { connectDevice } from '../device/device.ts';
import { createPrinter, folding } from '../terminal/print.ts';
import type { Streams } from '../terminal/streams.ts';
import { explain, UsageError } from '../terminal/usage.ts';
import { liveMessages } from './messages.ts';
import { exchange } from './sendLive.ts';

const variable = 'DEVICE_CONNECTION_STRING';

const help = `Usage: ${variable}='HostName=…' npm run check -- --live --yes

Sends every message as a device through the hub and the service that run
there, and compares the answers. Without --yes it only says what it would do.
The principal manager must know the device, and let it own what it creates.

  --yes       send
  --wait S    for each answer, in seconds; default 30

Exit code: 0 when every answer is right, 1 when one is not, 3 when there is no
connection or the command line is wrong.
`;

/**
 * Runs \`npm run check -- --live\` with these arguments; returns its exit code.
 * @param connectionString of a device; empty when there is none
 */
export async function checkLive(
  args: readonly string[],
  connectionString: string,
  { stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>,
): Promise<number> {
  const printer = createPrinter(stdout);
  const { line } = folding(printer);
  const { paint } = printer;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        live: { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        wait: { type: 'string', default: '30' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      stdout.write(help);
      return 0;
    }
    const waitMs = Number(values.wait) * 1000;
    if (!(waitMs >= 1000 && waitMs <= 3_600_000)) throw new UsageError('--wait takes seconds, from 1 to 3600');
    const deviceId = /(?:^|;)\s*DeviceId=([^;]+)/.exec(connectionString)?.[1];
    if (deviceId === undefined) throw new UsageError(`${variable} must be the connection string of a device`);
    const run = `check-${randomBytes(4).toString('hex')}`;
    const names = { run, deviceId, firstId: randomUUID(), secondId: randomUUID() };
    const messages = liveMessages(names);
    line(
      `As the device ${deviceId} this sends ${messages.length} messages, whose ids begin with ${run}. What it does:`,
    );
    line(
      `  - While it runs, another connection of ${deviceId} is closed, and replies that wait for it are taken: use a device that nobody else uses.`,
    );
    line(
      `  - It leaves behind the type ${run} 1.0.0, the objects ${names.firstId} and ${names.secondId}, and a reference between them. No message removes them, and types stay for ever.`,
    );
    line(`  - The messages about identities name ${run}, which does not exist: they must be refused.`);
    if (!values.yes) {
      line('\nNothing was sent: add --yes to send.');
      return 0;
    }
    line();
    const device = await connectDevice({ id: deviceId, connectionString });
    try {
      let wrong = 0;
      for (const message of messages) {
        const began = performance.now();
        const problems = await exchange(device, message, waitMs);
        const took = ((performance.now() - began) / 1000).toFixed(1);
        if (problems.length > 0) wrong += 1;
        const sign = problems.length === 0 ? paint('green', '✓') : paint('red', '✗');
        line(`${sign} ${message.message}: ${message.title} (${took} s)`);
        for (const problem of problems) line(`    ${problem}`);
      }
      line(`\n${messages.length - wrong} ✓  ${wrong} ✗`);
      return wrong === 0 ? 0 : 1;
    } finally {
      await device.close();
    }
  } catch (error) {
    stderr.write(`${explain(error, 'check -- --live')}\n`);
    return 3;
  }
}
