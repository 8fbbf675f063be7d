import { randomBytes, randomUUID } from 'node:crypto';
import { type Answer, type Client, createClient, type Outgoing } from './client.ts';
import { at, Blocked, expect, NotTried } from './expect.ts';

export const backends = ['information-model', 'type-registry', 'principal-manager'] as const;
export type BackendName = (typeof backends)[number];

/** What a run is given. Rules that need an absent one are not tried. */
export interface Given {
  readonly 'information-model'?: string | undefined;
  readonly 'type-registry'?: string | undefined;
  readonly 'principal-manager'?: string | undefined;
  /** An identity that exists and is directly connected. */
  readonly device: string;
  /** Another device of its tenant. */
  readonly 'other-device'?: string | undefined;
  readonly 'other-tenant-device'?: string | undefined;
  /** Connectivity path of an identity below the device, which is updated and deleted. */
  readonly 'expendable-identity'?: string | undefined;
  /** Id of an object model `svc.device` without an owner, which is claimed. */
  readonly 'unclaimed-object'?: string | undefined;
  /** Of an application that may invoke methods. */
  readonly 'caller-token'?: string | undefined;
  /** Of an application that may read and not invoke. */
  readonly 'reader-token'?: string | undefined;
}

interface CallOptions {
  /** An object is written as JSON, a text is sent as it is. */
  readonly body?: object | string | Buffer;
  /** Instead of `--device`; null: without the header. */
  readonly device?: string | null;
  /** Instead of the service's; null: none. */
  readonly token?: string | null;
  /** Idempotency key; a fresh one when absent. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly losesAnswer?: boolean;
}

interface NewOptions extends CallOptions {
  /** Id of the identity that owns it; that of the device when absent. */
  readonly owner?: string;
}

/** An object model that the kit has made. */
interface Made {
  readonly objectId: string;
  readonly serial: string;
  /** Path of its model. */
  readonly at: string;
  readonly answer: Answer;
}

export const model = 'svc.device';
export const configuration = 'svc.configuration';
export const bigInteger = '9007199254740993'; // 2^53 + 1: no double has it
export const rackReferences = Array.from({ length: 150 }, (_, i) => `slot-${i}`);
export const encoded = encodeURIComponent;

const field = (dataType: string, more: object = {}) => ({ dataType, ...more });

/** The types of a run, by what follows the run's name in their ids; base types and earlier versions first. */
export function typesOf(run: string) {
  const serial = field('string', { isMandatory: true });
  const machine = {
    typeId: `${run}-machine`,
    unique: ['serial', 'plant'],
    properties: {
      ...{ serial, plant: field('string'), label: field('string'), image: field('file') },
      ...{ count: field('integer'), ratio: field('number'), isOn: field('boolean') },
    },
    variables: { reading: field('number'), total: field('integer') },
    methods: { stop: {}, configure: { input: { rpm: field('integer') } } },
    relatedModels: { [configuration]: { type: `${run}-settings@1`, uniqueMapping: { serial: 'serial' } } },
    references: { contains: {}, feeds: {} },
  };
  const settings = { serial, interval: field('integer', { default: 60 }) };
  return [
    [configuration, { typeId: `${run}-settings`, version: '1.0.0', properties: settings }],
    [model, { ...machine, version: '1.9.0' }],
    [model, { ...machine, version: '1.10.0' }],
    [model, { ...machine, version: '2.0.0' }],
    [model, { typeId: `${run}-pump`, version: '1.0.0', baseTypes: [`${run}-machine@2.0.0`], properties: {} }],
    [
      model,
      {
        ...{ typeId: `${run}-rack`, version: '1.0.0', properties: { label: field('string'), count: field('integer') } },
        references: Object.fromEntries(rackReferences.map((name) => [name, {}])),
      },
    ],
    [
      model,
      {
        ...{ typeId: `${run}-odd`, version: '1.0.0', properties: { label: field('string') } },
        relatedModels: { [configuration]: { type: `${run}-missing@1` } },
      },
    ],
  ] as const;
}

export type Kit = ReturnType<typeof createKit>;

/** Calls backends as the service does, and makes what rules need: under names of this run, once. */
export function createKit(given: Given, token: string, timeoutMs: number) {
  const run = `kit-${randomBytes(4).toString('hex')}`;
  const clients = new Map<BackendName, Client>();
  for (const name of backends) {
    const url = given[name];
    if (url !== undefined) clients.set(name, createClient(url, timeoutMs));
  }
  /** What stays. */
  const left = { types: new Set<string>(), objects: new Set<string>() };
  /** What was given and serves no further run. */
  const spent = new Set<string>();
  let exchanges: Answer[] = [];
  let names = 0;

  async function call(backend: BackendName, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const client = clients.get(backend);
    if (client === undefined) throw new NotTried(`it needs --${backend}`);
    const { body, device = given.device, token: own = token, key = randomUUID(), losesAnswer } = options;
    const mutates = method !== 'GET' && path !== '/query';
    const headers = {
      ...(own !== null && { authorization: `Bearer ${own}` }),
      ...(device !== null && { 'x-svc-device-id': encoded(device) }),
      'x-correlation-id': run,
      traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(mutates && { 'idempotency-key': key }),
      ...options.headers,
    };
    const isText = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
    const outgoing: Outgoing = { method, path, headers, body: isText ? body : JSON.stringify(body), losesAnswer };
    const answer = await client.send(outgoing);
    exchanges.push(answer);
    return answer;
  }

  function option(name: keyof Given): string {
    const value = given[name];
    if (value === undefined) throw new NotTried(`it needs --${name}`);
    return value;
  }

  const on =
    (backend: BackendName) =>
    (method: string, path: string, options?: CallOptions): Promise<Answer> =>
      call(backend, method, path, options);
  const im = on('information-model');
  const tr = on('type-registry');
  const pm = on('principal-manager');

  /** Makes it once, however many ask. */
  function once<T>(make: () => Promise<T>): () => Promise<T> {
    let made: Promise<T> | undefined;
    return () => {
      made ??= make();
      return made;
    };
  }

  /** The identity of the device. */
  const owner = once(async () => {
    const answer = await pm('GET', `/devices?device=${encoded(given.device)}`);
    const id = at(answer, 'data.0.id');
    if (answer.status !== 200 || typeof id !== 'string') throw new Blocked('pm.resolve.device does not hold');
    return id;
  });

  /** The identity that may be changed, only if it is the one that was named. */
  const expendable = once(async () => {
    const whole = option('expendable-identity');
    const names = whole.split('/');
    const identity = names.pop() ?? '';
    const path = names.join('/');
    const query = `${path && `&path=${encoded(path)}`}&identity=${encoded(identity)}`;
    const answer = await pm('GET', `/devices?device=${encoded(given.device)}${query}`);
    const id = at(answer, 'data.0.id');
    const isIt = at(answer, 'data.0.path') === `${given.device}/${whole}` && id !== (await owner());
    if (answer.status !== 200 || typeof id !== 'string' || !isIt) throw new Blocked('pm.resolve.child does not hold');
    return { id, whole, identity, path };
  });

  /** The type definitions of the run; it makes them unless they are there. */
  const types = once(async () => {
    for (const [modelId, definition] of typesOf(run)) {
      const answer = await tr('POST', typesAt(modelId), { body: definition });
      if (answer.status !== 201)
        throw new Blocked(
          `the registry answers ${answer.failure ?? answer.status} to the type ${definition.typeId}: ${answer.text.replaceAll(token, '…').slice(0, 200)}`,
        );
      left.types.add(`${modelId} ${definition.typeId}@${definition.version}`);
    }
  });

  const fresh = (): string => `${run}-${++names}`;

  /** Sends a new object model of the type machine, with a serial number that no other has. */
  async function post(properties: object | string = {}, more: object = {}, options: NewOptions = {}): Promise<Made> {
    const id = options.owner ?? (await owner());
    await types();
    const [serial, objectId] = [fresh(), randomUUID()];
    const sent = typeof properties === 'string' ? properties : JSON.stringify({ serial, plant: run, ...properties });
    const rest = { objectId, model, type: `${run}-machine@2.0.0`, name: serial, ...more };
    const body = `${JSON.stringify(rest).slice(0, -1)},"properties":${sent}}`;
    const answer = await im('POST', `/object?owner=${encoded(id)}`, { body, ...options });
    const created = at(answer, 'objectId');
    if (answer.status === 201) left.objects.add(String(created));
    return {
      objectId: String(created ?? rest.objectId),
      serial,
      at: modelAt(String(created ?? rest.objectId)),
      answer,
    };
  }

  const plain = once(() => post());

  /** An object model that exists. @throws Broken if this one is refused, and others are not */
  async function made(properties?: object | string, more?: object, options?: NewOptions): Promise<Made> {
    const object = await post(properties, more, options);
    if (object.answer.status === 201) return object;
    if ((await plain()).answer.status !== 201) throw new Blocked('im.create does not hold');
    expect(object.answer, 201);
    return object;
  }

  return {
    ...{ run, given, left, spent, im, tr, pm, call, owner, expendable, types, fresh, post, made },
    /** What the rule needs. @throws NotTried */
    option,
    /** Exchanges since the last call of this. */
    takeExchanges(): Answer[] {
      const taken = exchanges;
      exchanges = [];
      return taken;
    },
    close(): void {
      for (const client of clients.values()) client.close();
    },
  };
}

export const typesAt = (modelId: string) => `/modelDefinitions/${encoded(modelId)}/types`;
export const modelAt = (objectId: string, modelId = model) =>
  `/objects/${encoded(objectId)}/models/${encoded(modelId)}`;
export const referencesOf = (place: string) => `${place}/references/out`;
