import { v5 } from 'uuid';
import { createAsAdministrator } from '../informationModel/createAsAdministrator.ts';
import type { Stores } from '../informationModel/stores.ts';
import type { Principal } from '../principalManager/principals.ts';
import { motors, motorTypes } from './motors.ts';

const NAMESPACE = 'b4f4a1a6-3a0c-4c1e-9d0e-6f6c1b1f2a77';

/** Ids of the example world are the same each time, so that transcripts can be compared. */
const idOf = (name: string): string => v5(name, NAMESPACE);

const text = (description: string, more: object = {}) => ({ dataType: 'string', description, ...more });
const serial = text('Number on the plate, unique among all machines of the type', { isMandatory: true });

const pump = {
  typeId: 'pump',
  unique: ['serial'],
  variables: { pressure: { dataType: 'number', description: 'Pressure now, in bar' } },
  methods: {
    restart: { description: 'Stops the pump and starts it again' },
    setSpeed: { description: 'Sets the speed', input: { rpm: { description: 'Per minute', dataType: 'integer' } } },
  },
  relatedModels: { 'svc.configuration': { type: 'pump.settings@1', uniqueMapping: { serial: 'serial' } } },
  references: {
    parent: { description: 'The machine this one is part of' },
    contains: { description: 'A part of this machine' },
    feeds: { description: 'The machine that gets what this one pumps' },
  },
};

const firstPumpProperties = {
  serial,
  location: text('Where it stands'),
  maximumPressure: { dataType: 'number', description: 'In bar' },
};

/** Types of `svc.device` that all tenants know. */
const devices = [
  { ...pump, version: '1.0.0', properties: firstPumpProperties },
  {
    ...pump,
    version: '2.0.0',
    properties: {
      ...firstPumpProperties,
      runningHours: { dataType: 'integer', description: 'Since it was built; a 64-bit counter' },
      isSubmersible: { dataType: 'boolean', description: 'May run under water' },
    },
  },
  {
    typeId: 'booster-pump',
    version: '1.0.0',
    baseTypes: ['pump@2.0.0'],
    properties: { stages: { dataType: 'integer', description: 'Number of impellers' } },
  },
  {
    typeId: 'sensor',
    version: '1.0.0',
    properties: {
      quantity: text('What it measures', { isMandatory: true }),
      unit: text('Unit of the measured value'),
    },
    variables: { value: { dataType: 'number', description: 'Latest reading' } },
    references: { parent: { description: 'The machine it is mounted on' } },
  },
  {
    typeId: 'gateway',
    version: '1.0.0',
    unique: ['serial'],
    properties: { serial, firmware: text('Version of the software') },
    relatedModels: { 'svc.configuration': { type: 'gateway.settings' } },
    references: { contains: { description: 'A machine reached through this gateway' } },
  },
  {
    typeId: 'boiler',
    version: '1.0.0',
    unique: ['serial'],
    properties: { serial },
    relatedModels: {
      'svc.configuration': { type: 'boiler.settings@1', uniqueMapping: { serial: 'serial' } },
      'svc.maintenance': { type: 'boiler.log', uniqueMapping: { serial: 'serial' } },
    },
  },
];

/** Types of `svc.configuration` that all tenants know. */
const configurations = [
  {
    typeId: 'pump.settings',
    version: '1.0.0',
    unique: ['serial'],
    properties: {
      serial,
      reportInterval: { dataType: 'integer', description: 'Seconds between reports', default: 60 },
      unit: text('Unit of pressure in reports', { default: 'bar' }),
    },
  },
  {
    typeId: 'gateway.settings',
    version: '1.0.0',
    properties: { logLevel: text('How much is logged', { default: 'info' }) },
  },
  {
    typeId: 'boiler.settings',
    version: '1.0.0',
    unique: ['serial'],
    // Nobody fills it, so that this related model of a boiler always fails while the boiler itself succeeds.
    properties: { serial, licence: text('Number of the operating licence', { isMandatory: true }) },
  },
];

/** A type that only the tenant acme knows. */
const mixer = {
  typeId: 'mixer',
  version: '1.0.0',
  unique: ['plant', 'position'],
  properties: {
    plant: text('Name of the plant'),
    position: { dataType: 'integer', description: 'Place in the line' },
    speed: { dataType: 'number', description: 'Per minute' },
  },
};

/** Fills an empty world with tenants, types, devices and an object model that waits for its claim. */
export function seed(stores: Stores): void {
  const { types, principals } = stores;
  for (const definition of [...devices, ...motorTypes]) types.create(null, 'svc.device', JSON.stringify(definition));
  for (const definition of configurations) types.create(null, 'svc.configuration', JSON.stringify(definition));
  types.create('acme', 'svc.device', JSON.stringify(mixer));

  const device = (deviceId: string, tenant: string) => principals.createDevice(deviceId, tenant, idOf(deviceId));
  const connect = (parent: Principal, name: string) => principals.connect(parent, name, idOf(`${parent.path}/${name}`));

  device('pump-1', 'acme');
  device('pump-2', 'acme');
  const gateway = device('gateway-1', 'acme');
  const edge = connect(gateway, 'edge');
  connect(edge, 'sensor-1');
  connect(edge, 'sensor-2');
  device('rival-1', 'globex');
  const edgeDevice = device('edge-1', 'acme');
  const owners = [
    ...[device('motor-1', 'acme'), device('motor-2', 'acme'), connect(connect(gateway, 'bus'), 'drive-1')],
    ...[connect(edgeDevice, 'press'), connect(connect(edgeDevice, 'line'), 'valve-1'), connect(edgeDevice, 'mine')],
  ];

  const unclaimed = {
    objectId: idOf('unclaimed pump'),
    model: 'svc.device',
    type: 'pump@2',
    name: 'Spare pump',
    properties: { serial: 'SPARE-1', location: 'store room' },
  };
  createAsAdministrator(stores, 'acme', JSON.stringify(unclaimed));

  for (const { name, type, serial, owner } of motors) {
    const motor = { objectId: idOf(name), model: 'svc.device', type, name, properties: { serial } };
    const principal = owners.find(({ path }) => path === owner);
    createAsAdministrator(stores, 'acme', JSON.stringify(motor), principal);
  }
}
