import type { Check } from 'telemetry/check/runChecks.ts';
import type { MethodsSettings, Settings } from '../settings/config.ts';
import { type BackendUrls, checkBackends } from './checkBackends.ts';
import { checkClock } from './checkClock.ts';
import { checkEvents } from './checkEvents.ts';
import { checkInvoking } from './checkInvoking.ts';
import { checkDisk, checkMethodsLimits, checkServiceLimits, machineLimits } from './checkMachine.ts';
import { checkSending } from './checkSending.ts';
import { checkContainer, checkFiles } from './checkStores.ts';

/** All that can be looked at with the settings of the service, in the order of the report. */
export function serviceChecks(settings: Settings): Check[] {
  const { store, backends } = settings;
  const urls: BackendUrls = {
    ...urlsOf(backends),
    principalManager: [backends.principalManagerUrl, 'PRINCIPAL_MANAGER_URL'],
  };
  const container = (what: string, of: 'checkpoints' | 'deadLetters'): Check => ({
    what,
    look: () => checkContainer(what, of, settings),
  });
  return [
    { what: 'clock', look: () => checkClock(settings, urls) },
    { what: 'event endpoint', look: () => checkEvents(settings) },
    { what: 'service endpoint', look: () => checkSending(settings) },
    ...(store.kind === 'file'
      ? []
      : [container('checkpoint container', 'checkpoints'), container('dead-letter container', 'deadLetters')]),
    { what: 'backends', look: () => checkBackends(settings, urls) },
    { what: 'disk', look: async () => checkDisk(settings) },
    { what: 'memory', look: async () => checkServiceLimits(settings, machineLimits()) },
  ];
}

/** The same with the settings of the front door. */
export function methodsChecks(settings: MethodsSettings): Check[] {
  const urls = urlsOf(settings.backends);
  return [
    { what: 'clock', look: () => checkClock(settings, urls) },
    { what: 'service endpoint', look: () => checkInvoking(settings) },
    ...(settings.files.container === '' ? [] : [{ what: 'files', look: () => checkFiles(settings) }]),
    { what: 'backends', look: () => checkBackends(settings, urls) },
    { what: 'memory', look: async () => checkMethodsLimits(settings, machineLimits()) },
  ];
}

const urlsOf = ({ informationModelUrl, typeRegistryUrl }: MethodsSettings['backends']): BackendUrls => ({
  informationModel: [informationModelUrl, 'INFORMATION_MODEL_URL'],
  typeRegistry: [typeRegistryUrl, 'TYPE_REGISTRY_URL'],
});
