import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import mqtt from 'mqtt';

/** A request that a module of the sandbox received, and its reply. */
export interface ModuleRequest {
  readonly module: string;
  readonly topic: string;
  /** JSON, or nothing. */
  readonly payload: string;
  readonly replyTopic: string;
  readonly reply: string;
}

/** A program that is connected to the broker as a module. */
export interface Module {
  close(): Promise<void>;
}

interface ModuleOptions {
  readonly id: string;
  readonly url: string;
  readonly password: string;
  readonly topics: { readonly in: string; readonly out: string };
  /** @param method the segment of the topic, `$proxy` for a gateway */
  readonly answer: (method: string, payload: unknown) => Promise<ModuleReply>;
  /** Called with each request and its reply, before the reply is sent. */
  readonly onRequest: (request: ModuleRequest) => void;
}

interface ModuleReply {
  readonly status: number;
  readonly output?: object;
}

/** Connects a module that answers its requests. */
export async function startModule({ id, url, password, topics, answer, onRequest }: ModuleOptions): Promise<Module> {
  const client = await mqtt.connectAsync(url, { username: id, password });
  client.on('message', (topic, bytes) => {
    const [method = '', requestId = ''] = topic.slice(topics.in.length + 1).split('/');
    const payload = bytes.toString();
    void answer(method, payload === '' ? undefined : JSON.parse(payload))
      .catch(({ message }: Error): ModuleReply => ({ status: 500, output: { error: message } }))
      .then(({ status, output }) => {
        const replyTopic = `${topics.out}/${status}/${requestId}`;
        const reply = output === undefined ? '' : JSON.stringify(output);
        onRequest({ module: id, topic, payload, replyTopic, reply });
        client.publish(replyTopic, reply);
      });
  });
  await client.subscribeAsync(`${topics.in}/+/+`);
  return { close: () => client.endAsync(true) };
}

/** A press: it has the methods of its own object, files among the inputs. */
export const press = (folder: string) =>
  async function answer(method: string, input: unknown): Promise<ModuleReply> {
    const { image, curve, ...rest } = Object(input) as Readonly<Record<string, unknown>>;
    if (method === 'stop') return { status: 200 };
    if (method === 'configure') {
      return {
        status: 200,
        output: { set: Object.keys(rest), ...(curve !== undefined && { curve: await take(folder, curve) }) },
      };
    }
    if (method === 'loadFirmware') return { status: 200, output: { bytes: (await take(folder, image)).length } };
    return { status: 404 };
  };

/** The file is the module's: it reads and removes it. */
async function take(folder: string, name: unknown): Promise<string> {
  const path = join(folder, String(name));
  const content = await readFile(path, 'utf8');
  await rm(path);
  return content;
}

/** A gateway: it takes invocations for the drives behind it. */
export async function line(_method: string, payload: unknown): Promise<ModuleReply> {
  const { method, input } = Object(payload) as { method?: string; input?: { angle?: number } };
  if (method !== 'moveTo') return { status: 200 };
  const { angle = 0 } = input ?? {};
  return angle > 180 ? { status: 422, output: { furthest: 180 } } : { status: 200, output: { angle } };
}
