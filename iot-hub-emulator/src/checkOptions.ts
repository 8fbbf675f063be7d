import { z } from 'zod';
import { limits } from './cloudToDevice/deviceQueues.ts';
import { feedbackRules } from './cloudToDevice/feedback.ts';
import type { HubRules } from './core/core.ts';
import { isEnrichment, valuesOfEnrichments } from './enrichments/enrichments.ts';
import { bounds } from './limits/bounds.ts';
import { idleRules } from './limits/idle.ts';
import { isAddress, isHostName } from './network/reach.ts';
import { notificationSources } from './notifications/hubNotification.ts';
import { ways } from './otherwise/ways.ts';
import { Refusal } from './values/refusal.ts';
import { clausesOf } from './values/sentences.ts';

const text = z.string().min(1).max(256);
const partitions = z.int().min(1).max(1024);
const address = z.string().refine(isAddress, 'takes an IP address');
const hostName = z.string().refine(isHostName, 'takes names of hosts or IP addresses');
const port = z.int().min(0).max(65_535).optional();
const anything = z.unknown().optional();

/** Numbers of these names, none of them needed. */
const numbers = (names: readonly string[]) =>
  z.strictObject(Object.fromEntries(names.map((name) => [name, z.number().min(0).optional()])));

const rules: Record<keyof HubRules, z.ZodType> = {
  bounds: numbers(Object.keys(bounds)).optional(),
  idle: numbers(Object.keys(idleRules)).optional(),
  devicebound: numbers(Object.keys(limits)).optional(),
  feedback: numbers(Object.keys(feedbackRules)).optional(),
  tier: z.enum(['S1', 'S2', 'S3']).optional(),
  units: z.int().min(1).optional(),
  methodsAtOnce: z.int().min(1).optional(),
  rates: numbers(['connect', 'd2c', 'c2d', 'method', 'registry', 'twinRead', 'twinUpdate']).optional(),
  shapingMs: z.number().min(0).optional(),
  shapingBacklog: z.number().min(0).optional(),
};

const options = {
  name: text.optional(),
  host: address.optional(),
  hostNames: z.array(hostName).max(100).optional(),
  adminHost: address.optional(),
  adminToken: z
    .string()
    .regex(/^[\w.~+/=-]{16,256}$/, 'takes 16 to 256 characters of a bearer token')
    .optional(),
  development: z.boolean().optional(),
  directory: text.optional(),
  partitions: partitions.optional(),
  consumerGroups: z.array(text).optional(),
  ports: z.strictObject({ amqp: port, amqps: port, mqtts: port, https: port, admin: port }).optional(),
  devices: z.array(z.looseObject({ deviceId: z.string() })).optional(),
  strictProperties: z.boolean().optional(),
  ownerMaySend: z.boolean().optional(),
  authority: anything,
  routeTo: z.strictObject({ name: text, partitions: partitions.optional() }).optional(),
  enrichments: z
    .array(z.strictObject({ key: text, value: text.refine(isEnrichment, valuesOfEnrichments) }))
    .max(10)
    .optional(),
  fileStorage: z
    .strictObject({ connectionString: z.string().min(1), container: text, ca: z.string().optional() })
    .optional(),
  sources: z.array(z.enum(notificationSources)).optional(),
  otherwise: z.array(z.enum(Object.keys(ways))).optional(),
  rules: z.strictObject(rules).optional(),
  persist: text.optional(),
  journal: anything,
  now: z.custom((value) => typeof value === 'function', 'takes a function').optional(),
} as const satisfies Record<string, z.ZodType>;

/** None, unless an option was added that is not checked. */
type Unchecked<Options> = { readonly [Name in Exclude<keyof Options, keyof typeof options>]: never };

const schema = z.strictObject(options);

/** Refuses options that a hub does not have, or that are out of range, with a sentence: programs in plain JavaScript are not checked before. */
export function checkOptions<Options extends object>(given: Options & Unchecked<Options>): void {
  const { error } = schema.safeParse(given);
  if (!error) return;
  const clauses = clausesOf(error.issues, 'the options', (name) => `there is no option ${name}`);
  throw new Refusal('com.microsoft:argument-error', `The hub cannot start so: ${clauses}.`);
}
