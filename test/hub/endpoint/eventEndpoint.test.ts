import { expect, it } from 'vitest';
import { connectionStringTo, endpointIn } from '../../../src/hub/endpoint/lookUp.ts';
import { hubLoginOf, hubNameOf } from '../../../src/settings/hubLogin.ts';

const real = 'ihsuprodamsres01dednamespace.servicebus.windows.net';

it.each<[what: string, info: unknown, endpoint: object | undefined]>([
  [
    'as the hub does',
    {
      hostname: real,
      'network-host': real,
      port: 5671,
      address: `amqps://${real}:5671/iothub-ehub-pumps-1-a/$management`,
    },
    { namespace: real, eventHub: 'iothub-ehub-pumps-1-a' },
  ],
  [
    'to a port of its own',
    { hostname: 'localhost', address: 'amqps://localhost:4321/pumps/$management' },
    { namespace: 'localhost:4321', eventHub: 'pumps' },
  ],
  [
    'without a host beside the address',
    { address: 'amqps://a.example/pumps' },
    { namespace: 'a.example', eventHub: 'pumps' },
  ],
  ['without an address', { hostname: real }, undefined],
  ['to no event hub', { hostname: real, address: `amqps://${real}:5671/` }, undefined],
  ['with more than a name', { hostname: real, address: `amqps://${real}/a;SharedAccessKey=x` }, undefined],
  ['with a host that is none', { hostname: 'a;b', address: 'amqps://a.example/pumps' }, undefined],
  ['without anything', undefined, undefined],
])('a redirect %s names the endpoint, or none', (_, info, endpoint) => expect(endpointIn(info)).toEqual(endpoint));

it('a connection string of a hub gives the one of its endpoint, with the same policy', () => {
  const login = hubLoginOf('HostName=pumps.azure-devices.net;SharedAccessKeyName=service;SharedAccessKey=a2V5PQ==');
  expect(login).toEqual({ host: 'pumps.azure-devices.net', port: 5671, policy: 'service', key: 'a2V5PQ==' });
  expect(hubNameOf(login)).toBe('pumps');
  expect(connectionStringTo({ namespace: 'n.example', eventHub: 'e' }, login)).toBe(
    'Endpoint=sb://n.example/;SharedAccessKeyName=service;SharedAccessKey=a2V5PQ==;EntityPath=e',
  );
});
