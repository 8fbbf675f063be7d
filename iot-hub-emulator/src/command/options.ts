import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { HubRules } from '../core/core.ts';
import { tierRules } from '../core/tierRules.ts';
import { type Enrichment, isEnrichment, valuesOfEnrichments } from '../enrichments/enrichments.ts';
import type { HubOptions } from '../hub.ts';
import { isAddress, isHostName } from '../network/reach.ts';
import { type NotificationSource, notificationSources } from '../notifications/hubNotification.ts';
import { isWay, type Way, ways } from '../otherwise/ways.ts';
import { type FileStorage, openContainer } from '../uploads/storageAccount.ts';
import { readAuthority } from './authorityFile.ts';
import { called } from './called.ts';
import { UsageError } from './usageError.ts';

export const help = `Usage: ${called} [options]
  Runs an IoT hub on this machine until Ctrl-C, for clients of any kind.

Usage: ${called} COMMAND [options]
  Asks a hub that runs:

  devices [list]          the devices
  devices add D [KEY]     add a device; prints its connection string
  devices add D certificate=FILE [certificate=FILE]
                          one with a certificate or two of its own
  devices add D authority
                          one whose certificate a registered CA certificate
                          stands behind
  devices show D          one, with its key and connection string
  devices remove D
  devices twin D          its tags, desired and reported properties
  devices queue D         the messages that wait for it
  devices send D TEXT [name=value …]
                          send it a message; messageId, ack,
                          properties.colour=red
  connections             who is connected, and with which links
  certificates [list]     the CA certificates by which devices get in
  certificates add N FILE [verified]
                          register one; verified: without proof
  certificates code N     a code to prove that you have its key
  certificates verify N FILE
                          the proof: a certificate, issued by N for the code
  certificates remove N
  policies renew P [primaryKey|secondaryKey]
                          give a policy a new key; prints its connection strings
  faults [list]           the faults that stand
  faults kinds            every kind of fault and its fields
  faults add KIND [name=value …]
                          inject a fault, standing or immediate:
                          faults add drop connections=events;
                          seconds=60: a standing one for a minute
  faults clear [ID]       end one fault, or all
  counters                connections, links, credit, events, queues
  journal [name=value …]  what was received and sent; since, deviceId,
                          correlationId, kind
  partitions              how far the partitions reach

Usage: ${called} device D… --script FILE [options]
  Devices of a hub that runs, until Ctrl-C: they send telemetry and answer
  methods as FILE says (README), connect again by themselves, and are added if
  the hub does not know them.

  Running a hub:
  --partitions N     default 4
  --retention MIB    events kept in each partition, default 64 MiB; the oldest
                     go
  --persist DIR      keep events, devices, twins, queued messages and feedback
                     in DIR: they survive kill -9
  --tier S1|S2|S3    throttle as a hub of that tier does; --units N for its
                     size. Messages to and from devices over the rate are held
                     back and answered late, up to a minute, before they are
                     refused
  --methods-at-once N
                     calls of methods that a device may have under way; no limit
                     unless given
  --group G          a consumer group besides $Default; may be given again
  --device D         a device that is there from the start; may be given again
  --name N[,N…]      name of the hub and of its event hub, default sandbox-hub;
                     this and those after it are names or addresses by which
                     clients call it besides localhost: its certificate has them
  --host A           IP address to listen on, 0.0.0.0 or :: for all; by default
                     this machine only
  --admin-host A     the same for the admin port, which then asks for a token
  --development      the hub that everybody knows: name, keys and two devices
                     are published, so it KEEPS NOBODY OUT
  --end-with-stdin   end when standard input ends, as it does with the program
                     that started the hub
  --source S         events of the hub's own beside those of devices:
                     deviceConnectionStateEvents, deviceLifecycleEvents or
                     twinChangeEvents; may be given again
  --owner-may-send   the policy iothubowner may send events, which IoT Hub
                     allows to nobody
  --authority FILE   also believe the tokens of an authority: JSON with its
                     issuer and publicKey (PEM), and the rights of each object
                     id, as in {"rights": {"<object id>": ["messageSend"]}}
  --route-to E       what devices send goes to the event hub E, which only
                     identities of the authority may read, and not to the
                     built-in endpoint; --route-partitions N, default 4
  --uploads C        devices upload files to the container C, which is there, of
                     the account in AZURE_STORAGE_CONNECTION_STRING; an
                     authority of its own goes into NODE_EXTRA_CA_CERTS
  --enrichment 'K=V' a property of each message that devices send: V is a text,
                     $iothubname, $twin.tags.…, $twin.properties.desired.… or
                     $twin.properties.reported.…; may be given again
  --otherwise FACT   the contrary of a fact of docs/facts.md, for programs that
                     must bear it, too; may be given again
  --strict           refuse property characters that IoT Hub does not document
                     as allowed
  --amqp-port N  --amqps-port N  --mqtts-port N  --https-port N  --admin-port N
                     each a free one unless given; HTTPS shares the port of AMQP
                     over TLS

  Both:
  --directory D      where keys, certificates and the state file are: default
                     DIR of --persist, or .iot-hub-emulator
  --admin URL        the admin port of the hub to talk to; by default that of
                     the directory, or of a running sandbox
  --admin-token FILE the token of the admin port is in FILE; by default the
                     directory has it
  --json             print JSON on stdout
  --help`;

/** A hub to run, or a command for one that runs. */
export interface CommandLine {
  help: boolean;
  json: boolean;
  /** Where the state file is. */
  directory: string;
  /** Words after the options; none: run a hub. */
  words: readonly string[];
  adminUrl: string | undefined;
  adminToken: string | undefined;
  /** File of what devices send and answer. */
  script: string | undefined;
  /** End when standard input does. */
  endsWithStdin: boolean;
  /** The ports that were asked for, by option. */
  given: Readonly<Record<string, number>>;
  hub: HubOptions;
}

/** Read the command line. Relative paths count from `from`. Throws `UsageError`, or what `parseArgs` throws. */
export function readArguments(
  args: readonly string[],
  from: string,
  defaultDirectory: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): CommandLine {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: flag,
      json: flag,
      strict: flag,
      'owner-may-send': flag,
      development: flag,
      'end-with-stdin': flag,
      partitions: text,
      retention: text,
      persist: text,
      tier: text,
      units: text,
      'methods-at-once': text,
      name: text,
      directory: text,
      host: text,
      'admin-host': text,
      admin: text,
      'admin-token': text,
      authority: text,
      script: text,
      'route-to': text,
      'route-partitions': text,
      uploads: text,
      enrichment: { ...text, multiple: true },
      group: { ...text, multiple: true },
      device: { ...text, multiple: true },
      source: { ...text, multiple: true },
      otherwise: { ...text, multiple: true },
      'amqp-port': text,
      'amqps-port': text,
      'mqtts-port': text,
      'https-port': text,
      'admin-port': text,
    },
  });
  const number = (name: keyof typeof values, least: number, most: number): number | undefined => {
    const given = values[name];
    if (given === undefined) return undefined;
    const value = Number(given);
    if (!Number.isInteger(value) || value < least || value > most)
      throw new UsageError(`--${name} takes a whole number from ${least} to ${most}.`);
    return value;
  };
  const port = (name: 'amqp' | 'amqps' | 'mqtts' | 'admin') => number(`${name}-port`, 0, 65_535) ?? 0;
  const https = number('https-port', 0, 65_535);
  const persist = values.persist === undefined ? undefined : resolve(from, values.persist);
  const directory = values.directory === undefined ? (persist ?? defaultDirectory) : resolve(from, values.directory);
  const [partitions, retention] = [number('partitions', 1, 1024), number('retention', 1, 1_048_576)];
  const routePartitions = number('route-partitions', 1, 1024);
  const routeTo = values['route-to'];
  if (routeTo === undefined && routePartitions !== undefined)
    throw new UsageError('--route-partitions needs --route-to.');
  if (values.script !== undefined && positionals[0] !== 'device')
    throw new UsageError(`--script is for devices: ${called} device pump-1 --script FILE`);
  const names = values.name?.split(',') ?? [];
  if (!names.every(isHostName))
    throw new UsageError('--name takes names of hosts or IP addresses, a comma between two.');
  const [name] = names;
  for (const option of ['host', 'admin-host'] as const)
    if (!isAddress(values[option] ?? '::')) throw new UsageError(`--${option} takes an IP address.`);
  const adminToken = values['admin-token'] === undefined ? undefined : readToken(resolve(from, values['admin-token']));
  const methodsAtOnce = number('methods-at-once', 1, 1_000_000);
  return {
    help: values.help,
    json: values.json,
    directory,
    words: positionals,
    adminUrl: values.admin,
    adminToken,
    script: values.script === undefined ? undefined : resolve(from, values.script),
    endsWithStdin: values['end-with-stdin'],
    given: Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => (name.endsWith('-port') ? [[name, Number(value)]] : [])),
    ),
    hub: {
      directory: join(directory, 'keys'),
      ports: {
        amqp: port('amqp'),
        amqps: port('amqps'),
        mqtts: port('mqtts'),
        admin: port('admin'),
        ...(https !== undefined && { https }),
      },
      strictProperties: values.strict,
      ownerMaySend: values['owner-may-send'],
      sources: (values.source ?? []).map(sourceOf),
      otherwise: (values.otherwise ?? []).map(wayOf),
      consumerGroups: values.group ?? [],
      devices: (values.device ?? []).map((deviceId) => ({ deviceId })),
      rules: {
        ...rulesOf(values.tier, number('units', 1, 200)),
        ...(methodsAtOnce !== undefined && { methodsAtOnce }),
        ...(retention !== undefined && { bounds: { partition: retention * 2 ** 20 } }),
      },
      ...(values.authority !== undefined && { authority: readAuthority(resolve(from, values.authority)) }),
      ...(routeTo !== undefined && {
        routeTo: { name: routeTo, ...(routePartitions !== undefined && { partitions: routePartitions }) },
      }),
      ...(values.uploads !== undefined && { fileStorage: storageOf(values.uploads, environment[storageVariable]) }),
      enrichments: enrichmentsOf(values.enrichment ?? []),
      ...(name !== undefined && { name, hostNames: names }),
      ...(values.host !== undefined && { host: values.host }),
      ...(values['admin-host'] !== undefined && { adminHost: values['admin-host'] }),
      ...(adminToken !== undefined && { adminToken }),
      ...(values.development && { development: true }),
      ...(partitions !== undefined && { partitions }),
      ...(persist !== undefined && { persist: join(persist, 'data') }),
    },
  };
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`--admin-token ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

const storageVariable = 'AZURE_STORAGE_CONNECTION_STRING';

function storageOf(container: string, connectionString = ''): FileStorage {
  try {
    openContainer({ connectionString, container });
    return { connectionString, container };
  } catch (error) {
    throw new UsageError(`--uploads ${container} with ${storageVariable}: ${(error as Error).message}`);
  }
}

const enrichmentsOf = (given: readonly string[]): readonly Enrichment[] =>
  given.map((pair) => {
    const at = pair.indexOf('=');
    const [key, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (at < 1 || value === '' || /^\.(tags|properties)\./.test(value))
      throw new UsageError(
        `--enrichment takes KEY=VALUE, not ${JSON.stringify(pair)}. Quote it: a shell replaces $twin.`,
      );
    if (!isEnrichment(value)) throw new UsageError(`--enrichment ${key}: ${valuesOfEnrichments}, not ${value}.`);
    return { key, value };
  });

function sourceOf(given: string): NotificationSource {
  const source = notificationSources.find((name) => name === given);
  if (!source) throw new UsageError(`--source takes ${notificationSources.join(', ')}.`);
  return source;
}

function wayOf(given: string): Way {
  if (!isWay(given)) throw new UsageError(`--otherwise takes ${Object.keys(ways).join(', ')}.`);
  return given;
}

function rulesOf(tier: string | undefined, units: number | undefined): HubRules {
  const rules = tier === undefined ? {} : tierRules(tier, units);
  if (!rules) throw new UsageError('--tier takes S1, S2 or S3.');
  return rules;
}
