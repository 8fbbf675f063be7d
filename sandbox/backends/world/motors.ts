/** Types of `svc.device` that all tenants know and whose objects have methods. */
export const motorTypes = [
  {
    typeId: 'motor',
    version: '1.0.0',
    unique: ['serial'],
    properties: {
      serial: { dataType: 'string', description: 'Number on the plate', isMandatory: true },
    },
    variables: { rpm: { dataType: 'integer', description: 'Speed now, per minute' } },
    methods: {
      stop: { description: 'Stops the motor' },
      configure: {
        description: 'Sets everything that can be set; what is left out stays as it is',
        input: {
          label: { description: 'What its display says', dataType: 'string' },
          rpm: { description: 'Speed, per minute', dataType: 'integer' },
          torque: { description: 'Largest torque, in newton metres', dataType: 'number' },
          reverse: { description: 'Turns the other way round', dataType: 'boolean' },
          curve: { description: 'How it gets to its speed', dataType: 'file' },
        },
      },
      loadFirmware: {
        description: 'Takes another firmware and starts again',
        input: {
          image: { description: 'The firmware', dataType: 'file' },
          name: { description: 'Name of the file, which is not passed on otherwise', dataType: 'string' },
        },
      },
    },
  },
  {
    typeId: 'servo-motor',
    version: '1.0.0',
    baseTypes: ['motor@1.0.0'],
    methods: {
      moveTo: {
        description: 'Turns to a position and stays there',
        input: { angle: { description: 'In degrees', dataType: 'number' } },
      },
    },
  },
];

/** A motor of the tenant acme; `owner` is the path of the identity that owns it; absent: it has no owner. */
interface Motor {
  readonly name: string;
  readonly type: string;
  readonly serial: string;
  readonly owner?: string;
}

/** Nothing connects as motor-2 by itself: it is there to be offline. */
export const motors: readonly Motor[] = [
  { name: 'Conveyor motor', type: 'motor@1', serial: 'M-1', owner: 'motor-1' },
  { name: 'Idle motor', type: 'motor@1', serial: 'M-2', owner: 'motor-2' },
  { name: 'Flap drive', type: 'servo-motor@1', serial: 'M-3', owner: 'gateway-1/bus/drive-1' },
  { name: 'Spare motor', type: 'motor@1', serial: 'M-4' },
  { name: 'Press', type: 'motor@1', serial: 'M-5', owner: 'edge-1/press' },
  { name: 'Valve drive', type: 'servo-motor@1', serial: 'M-6', owner: 'edge-1/line/valve-1' },
  { name: 'Own machine', type: 'motor@1', serial: 'M-7', owner: 'edge-1/mine' },
];
