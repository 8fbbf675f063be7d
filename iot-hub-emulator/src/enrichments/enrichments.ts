import { codes, entriesOf } from '../events/amqpSections.ts';
import { createAmqpWriter, writeSection } from '../events/amqpWriter.ts';
import type { DeviceLogin } from '../identity/access.ts';
import type { Twins } from '../twins/twins.ts';
import { isObject, type Json, writeJson } from '../values/json.ts';
import type { DeviceMessage } from '../values/message.ts';

/** An application property that the hub adds to what devices send. */
export interface Enrichment {
  readonly key: string;
  /** A text, `$iothubname`, or a place in the twin of the sender: `$twin.tags.…`, `$twin.properties.desired.…`, `$twin.properties.reported.…`. */
  readonly value: string;
}

/** Gives a message its enrichments. */
export type Enrich = (login: DeviceLogin, message: DeviceMessage) => DeviceMessage;

const place = /^\$twin\.(?<section>tags|properties\.desired|properties\.reported)\.(?<path>.+)$/;

/** Whether a value has one of the forms. */
export const isEnrichment = (value: string): boolean =>
  !value.startsWith('$') || value === '$iothubname' || place.test(value);

export const valuesOfEnrichments =
  'the value is a text, $iothubname, $twin.tags.…, $twin.properties.desired.… or $twin.properties.reported.…';

/** A property of the device with the same name goes. What is not in the twin is written as it was asked for. */
export function createEnrich(enrichments: readonly Enrichment[], hubName: string, twins: Twins): Enrich | undefined {
  if (enrichments.length === 0) return undefined;
  const keys = new Set(enrichments.map(({ key }) => key));

  const textFor = ({ identity }: DeviceLogin, value: string): string => {
    if (value === '$iothubname') return hubName;
    const { section = '', path } = place.exec(value)?.groups ?? {};
    if (path === undefined) return value;
    const { tags, desired, reported } = twins.get(identity.clientId);
    let found: Json | undefined = section === 'tags' ? tags : section.endsWith('desired') ? desired : reported;
    for (const name of path.split('.')) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    if (found === undefined) return value;
    return typeof found === 'string' ? found : writeJson(found);
  };

  return (login, message) => {
    const added = enrichments.map(({ key, value }) => [key, textFor(login, value)] as const);
    const properties = Object.assign(Object.create(null), message.properties, Object.fromEntries(added));
    const { encodedProperties: given } = message;
    if (!given) return { ...message, properties };
    const kept = entriesOf(given).filter(({ key = '' }) => !keys.has(key));
    const entries = [...kept.map(({ bytes }) => bytes), ...added.map(encodePair)];
    return { ...message, properties, encodedProperties: writeSection(codes.applicationProperties, entries) };
  };
}

const writer = createAmqpWriter();

function encodePair([key, value]: readonly [string, string]): Buffer {
  writer.string(key);
  writer.string(value);
  return Buffer.from(writer.take());
}
