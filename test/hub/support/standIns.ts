/** What takes the place of the hub's client, by the connection string that it is made with. */
export type StandIns = Map<string, () => object>;

export const standIns: StandIns = new Map();

/** What the service corrects in a client. A stand-in has no receivers. */
const client = () => ({ connection: { options: { properties: { version: '6.0.4' } } }, receivers: {} });

/** The client's module with stand-ins for its connections, for `vi.mock`. */
export const withStandIns = (original: object): object => ({
  ...original,
  EventHubConsumerClient: function connect(_group: string, address: string) {
    const standIn = standIns.get(address)?.();
    return standIn && Object.assign(standIn, { _context: client() });
  },
});
