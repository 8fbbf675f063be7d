import { parseArgs } from 'node:util';
import { askAdmin, flag, readableLine, runCommand, showUsage, text } from '../admin/commands.ts';
import { configDirectory, readAdminSettings } from '../settings/config.ts';

const usage = `Usage: tap --device D [options]

Follows the messages of one device through the service, as they happen: read
from the hub, waiting, begun, each backend call, each reply, handled. Ask the
instance that reads the device's partition; another one sees nothing. At the
front door of remote methods: the invocations of the device's methods.

  --device D    the device that the hub knows by this id
  --seconds N   for so long, up to 3600; default 60
  --bodies      with the bodies of messages, calls and replies, without what
                looks secret
  --json        one JSON object on each line
  --url U       address of the admin port; default http://127.0.0.1:<ADMIN_PORT>

ADMIN_TOKEN is sent if it is set.
`;

const options = { device: text, seconds: { ...text, default: '60' }, bodies: flag, json: flag, url: text, help: flag };

void runCommand(async (args) => {
  const { device, seconds, bodies, json, url, help } = parseArgs({ args, options }).values;
  if (device === undefined || help) return showUsage(usage, help);
  const query = new URLSearchParams({ device, seconds, bodies: String(bodies) });
  const response = await askAdmin(readAdminSettings(process.env, configDirectory), url, `/tap?${query}`);
  for await (const line of linesOf(response)) {
    process.stdout.write(json ? `${line}\n` : readableLine(line, process.stdout.isTTY));
  }
  return 0;
});

async function* linesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
