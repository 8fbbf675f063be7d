import type { Check } from 'telemetry/check/runChecks.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { isLookedUp } from '../settings/derived.ts';
import { checkBackends } from './checkBackends.ts';
import { checkClock } from './checkClock.ts';
import { checkEvents } from './checkEvents.ts';
import { checkInvoking } from './checkInvoking.ts';
import { checkDisk, checkMethodsLimits, checkServiceLimits, machineLimits } from './checkMachine.ts';
import { checkNetwork } from './checkNetwork.ts';
import { checkSending } from './checkSending.ts';
import { checkContainer, checkFiles } from './checkStores.ts';
import {
  amqpEndpoint,
  type Endpoint,
  eventEndpoint,
  hubEndpoint,
  methodsEndpoints,
  networkOf,
  serviceEndpoints,
} from './endpoints.ts';

/** All that can be looked at with the settings of the service, in the order of the report. */
export function serviceChecks(settings: Settings): Check[] {
  const { hub, store, backends } = settings;
  const endpoints = serviceEndpoints(settings);
  const stores: Check[] =
    store.kind === 'file'
      ? []
      : [
          {
            what: 'checkpoint container',
            look: () => checkContainer('checkpoint container', 'checkpoints', settings),
          },
          {
            what: 'dead-letter container',
            look: () => checkContainer('dead-letter container', 'deadLetters', settings),
          },
        ];
  return [
    ...networkChecks(endpoints),
    { what: 'clock', look: () => checkClock(endpoints) },
    {
      what: 'event endpoint',
      // One that is looked up is known only by its hub.
      after: networkOf(endpoints, isLookedUp(hub) ? amqpEndpoint(hub) : eventEndpoint(hub)),
      look: () => checkEvents(settings),
    },
    {
      what: 'service endpoint',
      after: networkOf(endpoints, amqpEndpoint(hub)),
      look: () => checkSending(settings),
    },
    ...stores,
    {
      what: 'backends',
      look: () =>
        checkBackends(settings, {
          ...urlsOf(backends),
          principalManager: [backends.principalManagerUrl, 'PRINCIPAL_MANAGER_URL'],
        }),
    },
    { what: 'disk', look: async () => checkDisk(settings) },
    { what: 'memory', look: async () => checkServiceLimits(settings, machineLimits()) },
  ];
}

/** The same with the settings of the front door. */
export function methodsChecks(settings: MethodsSettings): Check[] {
  const { hub, files, backends } = settings;
  const endpoints = methodsEndpoints(settings);
  return [
    ...networkChecks(endpoints),
    { what: 'clock', look: () => checkClock(endpoints) },
    {
      what: 'service endpoint',
      after: networkOf(endpoints, hubEndpoint(hub, 443)),
      look: () => checkInvoking(settings),
    },
    ...(files.container === '' ? [] : [{ what: 'files', look: () => checkFiles(settings) }]),
    { what: 'backends', look: () => checkBackends(settings, urlsOf(backends)) },
    { what: 'memory', look: async () => checkMethodsLimits(settings, machineLimits()) },
  ];
}

const networkChecks = (endpoints: readonly Endpoint[]): Check[] =>
  endpoints.map((endpoint) => {
    const what = networkOf(endpoints, endpoint);
    return { what, look: () => checkNetwork(endpoint, what) };
  });

const urlsOf = ({ informationModelUrl, typeRegistryUrl }: MethodsSettings['backends']) =>
  ({
    informationModel: [informationModelUrl, 'INFORMATION_MODEL_URL'],
    typeRegistry: [typeRegistryUrl, 'TYPE_REGISTRY_URL'],
  }) as const;
