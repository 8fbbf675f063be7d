import { parseArgs } from 'node:util';
import { type HubRules, tierRules } from 'iot-hub-emulator';
import { fromCommandLine, sandboxDirectory } from './state/directories.ts';
import { UsageError } from './terminal/usage.ts';

export const help = `Starts a hub, the backends, the service and the front door of remote methods on
this machine, demonstrates all messages and methods, and keeps running.
What is not as expected is told, and ends it only with --exit.

  npm run sandbox -- [options]

  --exit          end after the demonstration: exit code 0 if every expected
                  reply came from the service
  --verbose       print each message and invocation of the demonstration
  --no-service    leave the service out, so that it can be started in a debugger
  --no-methods    leave the front door out in the same way, and the edge device
                  with it
  --json          print the state (as in .sandbox/state.json, keys included) on
                  stdout and everything else on stderr
  --open          open the page of the sandbox in your browser
  --no-page       leave the page out
  --store file    what the backends store is there for the next sandbox; by
                  default it is in memory
  --tier S1|S2|S3 the hub throttles like one of that tier; by default it does
                  not throttle
  --group G       a consumer group of the hub besides $Default, which is the
                  service's; may be given again
  --directory D   where state, keys and logs go, default .sandbox; each running
                  sandbox needs its own
  --help

  Ports, each a free one unless given:
  --amqp-port N  --amqps-port N  --mqtts-port N                          the hub
  --https-port N  --hub-admin-port N    the same; HTTPS shares the port of AMQP
                                        over TLS unless given
  --information-model-port N  --type-registry-port N
  --principal-manager-port N  --backends-admin-port N               the backends
  --service-port N                                   the service's health checks
  --methods-port N  --methods-health-port N    the front door, its health checks
  --broker-port N                                      the broker of the modules
  --edge-health-port N                            the edge proxy's health checks
  --page-port N                                                         the page`;

export type Options = ReturnType<typeof readArguments>;

/** The options of `npm run sandbox`. Throws `UsageError`, or what `parseArgs` throws. */
export function readArguments() {
  const port = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      exit: { type: 'boolean', default: false },
      'no-service': { type: 'boolean', default: false },
      'no-methods': { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      open: { type: 'boolean', default: false },
      'no-page': { type: 'boolean', default: false },
      directory: { type: 'string', default: sandboxDirectory },
      store: { type: 'string' },
      tier: { type: 'string' },
      group: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
      'amqp-port': port,
      'amqps-port': port,
      'mqtts-port': port,
      'https-port': port,
      'hub-admin-port': port,
      'information-model-port': port,
      'type-registry-port': port,
      'principal-manager-port': port,
      'backends-admin-port': port,
      'service-port': port,
      'methods-port': port,
      'methods-health-port': port,
      'broker-port': port,
      'edge-health-port': port,
      'page-port': port,
    },
  });
  const number = (name: Extract<keyof typeof values, `${string}-port`>) => {
    const value = Number(values[name] ?? 0);
    if (!Number.isInteger(value) || value < 0 || value > 65_535) {
      throw new UsageError(`--${name} takes a port number up to 65535, not ${JSON.stringify(values[name])}`);
    }
    return value;
  };
  return {
    exit: values.exit,
    service: !values['no-service'],
    methods: values['no-methods'] ? ('prepared' as const) : ('running' as const),
    edge: !values['no-methods'],
    page: !values['no-page'],
    open: values.open,
    verbose: values.verbose,
    json: values.json,
    directory: fromCommandLine(values.directory),
    help: values.help,
    /** The ports that were asked for, by option. */
    given: Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => (name.endsWith('-port') ? [[name, Number(value)]] : [])),
    ) as Readonly<Record<string, number>>,
    ...storeOf(values.store),
    hubRules: rulesOf(values.tier),
    consumerGroups: values.group,
    ports: {
      hub: {
        amqp: number('amqp-port'),
        amqps: number('amqps-port'),
        mqtts: number('mqtts-port'),
        ...(values['https-port'] !== undefined && { https: number('https-port') }),
        admin: number('hub-admin-port'),
      },
      backends: {
        informationModel: number('information-model-port'),
        typeRegistry: number('type-registry-port'),
        principalManager: number('principal-manager-port'),
        admin: number('backends-admin-port'),
      },
      service: number('service-port'),
      methods: number('methods-port'),
      methodsHealth: number('methods-health-port'),
      broker: number('broker-port'),
      edgeHealth: number('edge-health-port'),
      page: number('page-port'),
    },
  };
}

function storeOf(store: string | undefined): { store?: 'file' } {
  if (store === undefined) return {};
  if (store !== 'file') throw new UsageError('--store takes file.');
  return { store };
}

function rulesOf(tier: string | undefined): HubRules {
  const rules = tier === undefined ? {} : tierRules(tier);
  if (!rules) throw new UsageError('--tier takes S1, S2 or S3.');
  return rules;
}
