import convict from 'convict';
import { settingFormats } from './formats.ts';
import { backends } from './groups/backendSettings.ts';
import { deadLetters } from './groups/deadLetterSettings.ts';
import { delivery, replies } from './groups/deliverySettings.ts';
import { hub } from './groups/hubSettings.ts';
import { identity } from './groups/identitySettings.ts';
import { files, methods } from './groups/methodSettings.ts';
import { network } from './groups/networkSettings.ts';
import { admin, http, log } from './groups/operationsSettings.ts';
import { checkpoints, data, store } from './groups/storeSettings.ts';

convict.addFormats(settingFormats);

/**
 * Every setting of the service: description, format, default and environment variable; for numbers also the largest
 * reasonable value. Secrets come from the environment, or from files of their own.
 */
export const schema = {
  identity,
  hub,
  network,
  backends,
  delivery,
  replies,
  data,
  store,
  checkpoints,
  deadLetters,
  http,
  admin,
  log,
} satisfies convict.Schema<unknown>;

const { principalManagerUrl: _, principalManagerScope: __, ...backendsOfMethods } = backends;

/** Every setting of the front door (M1). It has the other two containers to keep the files of methods out of them (M9). */
export const methodsSchema = {
  identity,
  hub: {
    serviceConnectionString: hub.serviceConnectionString,
    serviceConnectionStringFile: hub.serviceConnectionStringFile,
    hostName: hub.hostName,
  },
  network,
  backends: backendsOfMethods,
  methods,
  files,
  store: {
    connectionString: store.connectionString,
    connectionStringFile: store.connectionStringFile,
    accountUrl: store.accountUrl,
  },
  checkpoints: { container: checkpoints.container },
  deadLetters: { container: deadLetters.container },
  http,
  admin,
  log,
} satisfies convict.Schema<unknown>;

/** The settings of the service and of the front door. */
export const everySetting = { ...schema, methods, files };

const typed = () => convict(schema);
export type Settings = ReturnType<ReturnType<typeof typed>['getProperties']>;

const typedForMethods = () => convict(methodsSchema);
export type MethodsSettings = ReturnType<ReturnType<typeof typedForMethods>['getProperties']>;
