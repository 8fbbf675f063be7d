/** The backends, and what gives the tokens for them: by their keys in fields and attributes, their names in texts. */
export const backendNames = {
  informationModel: 'information model',
  typeRegistry: 'type registry',
  principalManager: 'principal manager',
  tokenEndpoint: 'token endpoint',
} as const;

export type BackendKey = keyof typeof backendNames;

/** What the service asks of the backends, as texts for `details` and the log, too. */
export const operations = [
  'read object model',
  'create object model',
  'replace object model',
  'claim object model',
  'read references',
  'create references',
  'look up object model',
  'read type definition',
  'create type definition',
  'resolve identity',
  'update identity',
  'delete identity',
  'fetch token',
] as const;

export type Operation = (typeof operations)[number];

export const httpMethods = ['GET', 'POST', 'PUT', 'DELETE'] as const;

export type HttpMethod = (typeof httpMethods)[number];

/** The reasons for which an attempt ends without a response, as texts for `details`. */
export const transportFaults = [
  'connection refused',
  'no connection',
  'too many open files',
  'connection lost',
  'no answer in time',
  'answer too large',
] as const;

export type TransportFault = (typeof transportFaults)[number];
