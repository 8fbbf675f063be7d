/** What takes the place of the hub's client, by the connection string that it is made with. */
export type StandIns = Map<string, () => object>;

export const standIns: StandIns = new Map();

/** The client's module with stand-ins for its connections, for `vi.mock`. */
export const withStandIns = (original: object): object => ({
  ...original,
  EventHubConsumerClient: function connect(_group: string, address: string) {
    return standIns.get(address)?.();
  },
});
