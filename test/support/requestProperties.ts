/** What every request of the tables has. */
export const requestProperties = {
  V2: (name: string) => ({
    msgType: 'action',
    action: name,
    version: 2,
    correlationId: 'c-1',
    ack: 'all',
    target: 'edge',
  }),
  V1: (name: string) => ({
    'svc-messagetype': 'platformEvent',
    eventType: name,
    id: 'c-1',
    ack: 'all',
    target: 'edge',
  }),
};
