import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import mqtt from 'mqtt';

// What a module finds in its environment; here the sandbox has it.
const { MODULE: id = 'mine', STATE = '.sandbox/state.json' } = process.env;
const state = JSON.parse(await readFile(STATE, 'utf8')).edge;
const { topics, files } = state.modules[id];

/** Each method gets the inputs, and returns its status and, if it likes, an output. */
const methods: Record<string, (input: Record<string, unknown>) => Promise<[status: number, output?: object]>> = {
  stop: async () => [200],
  configure: async ({ rpm }) => (typeof rpm === 'number' ? [200, { rpm }] : [422, { missing: ['rpm'] }]),
  async loadFirmware({ image, name }) {
    const path = join(files, String(image)); // in a container: /files
    const { length } = await readFile(path);
    await rm(path); // the file is ours, and counts towards our quota
    return [200, { name, bytes: length }];
  },
};

const client = await mqtt.connectAsync(state.broker.url, {
  username: id,
  password: state.broker.passwords[id],
  clean: true,
  reconnectOnConnackError: true, // without it, a refusal is the last try
});
client.on('message', async (topic, payload, { retain }) => {
  if (retain) return; // never an invocation
  const [method = '', requestId] = topic.slice(topics.in.length + 1).split('/');
  const reply = (status: number, output?: object) =>
    client.publish(`${topics.out}/${status}/${requestId}`, output ? JSON.stringify(output) : '');
  try {
    const input = payload.length === 0 ? {} : JSON.parse(payload.toString());
    const [status, output] = Object.hasOwn(methods, method) ? ((await methods[method]?.(input)) ?? [404]) : [404];
    reply(status, output);
  } catch (error) {
    reply(500, { error: String(error) });
  }
});
await client.subscribeAsync(`${topics.in}/+/+`, { qos: 0 });
process.stdout.write(`${id} answers methods; Ctrl-C ends it.\n`);
